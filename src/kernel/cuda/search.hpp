// The search of a categorical draw, in the order of search_order: lane by lane, and within a lane one component after
// another.                                                                                                        (M4)
#pragma once
#include <bit>

#include "base/device.hpp"

namespace ztp::cuda {

// Which lane: the first whose running sum is beyond the target, or else, where rounding has left nothing beyond it, the
// last that has a share. Both are given as bits.
ZTP_DEVICE inline unsigned lane_of(unsigned beyond, unsigned with_share) {
#ifdef __CUDA_ARCH__
  if (beyond != 0) return static_cast<unsigned>(__ffs(static_cast<int>(beyond)) - 1);
  return with_share == 0 ? 0u : static_cast<unsigned>(31 - __clz(static_cast<int>(with_share)));
#else
  if (beyond != 0) return static_cast<unsigned>(std::countr_zero(beyond));
  return with_share == 0 ? 0u : static_cast<unsigned>(std::bit_width(with_share) - 1);
#endif
}

// Where in a lane: the first place at which the running sum of the shares p is beyond `rest`, or else the last with a
// share. Kept in registers where it is unrolled.
template <int N>
ZTP_DEVICE inline int place_in_lane(const float (&p)[N], float rest) {
  int found = 0, last = 0;
  bool searching = true;
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int s = 0; s < N; ++s) {
    if (p[s] > 0) last = s;
    rest -= p[s];
    if (searching && rest < 0) {
      found = s;
      searching = false;
    }
  }
  return searching ? last : found;
}

}  // namespace ztp::cuda
