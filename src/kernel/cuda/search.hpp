// The search of a categorical draw, in the order of search_order: lane by lane, and within a lane one component after
// another.                                                                                                        (M4)
#pragma once
#include "base/device.hpp"

namespace ztp::cuda {

// Which of `bits` lanes: the first whose running sum is beyond the target, or else, where rounding has left nothing
// beyond it, the last that has a share.
ZTP_DEVICE inline unsigned lane_of(unsigned beyond, unsigned with_share) {
  unsigned lane = 0;
  if (beyond != 0) {
    while ((beyond >> lane & 1u) == 0) ++lane;
  } else {
    for (unsigned l = 0; l < 32; ++l)
      if ((with_share >> l & 1u) != 0) lane = l;
  }
  return lane;
}

// Where in a lane: the first place at which the running sum of the shares p is beyond `rest`, or else the last with a
// share. Kept in registers where it is unrolled.
template <int N>
ZTP_DEVICE inline int place_in_lane(const float (&p)[N], double rest) {
  int found = 0, last = 0;
  bool searching = true;
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int s = 0; s < N; ++s) {
    if (p[s] > 0) last = s;
    rest -= static_cast<double>(p[s]);
    if (searching && rest < 0) {
      found = s;
      searching = false;
    }
  }
  return searching ? last : found;
}

}  // namespace ztp::cuda
