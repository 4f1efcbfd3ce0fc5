// The search of a categorical draw, in the order of search_order: class by class, the components r with the same
// r % 16, and within a class one component after another. Four threads have four neighbouring classes each.       (M4)
#pragma once
#include <bit>

#include "base/device.hpp"

namespace ztp::cuda {

// Which of the threads: the first whose running sum is beyond the target, or else, where rounding has left nothing
// beyond it, the last that has a share. Both are given as bits.
ZTP_DEVICE inline unsigned lane_of(unsigned beyond, unsigned with_share) {
#ifdef __CUDA_ARCH__
  if (beyond != 0) return static_cast<unsigned>(__ffs(static_cast<int>(beyond)) - 1);
  return with_share == 0 ? 0u : static_cast<unsigned>(31 - __clz(static_cast<int>(with_share)));
#else
  if (beyond != 0) return static_cast<unsigned>(std::countr_zero(beyond));
  return with_share == 0 ? 0u : static_cast<unsigned>(std::bit_width(with_share) - 1);
#endif
}

// The first place at which the running sum of the shares p is beyond `rest`, or else the last with a share. `rest`
// becomes what is left of it there: more than the share, in the latter case.
template <int N>
ZTP_DEVICE inline int place_of(const float (&p)[N], float& rest) {
  int found = 0;
  bool searching = true;
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int s = 0; s < N; ++s) {
    const bool here = searching && p[s] > 0;
    if (here) found = s;
    const float left = rest - p[s];
    searching = searching && !(left < 0);
    if (searching) rest = left;
  }
  if (searching) rest = 3.0e38f;
  return found;
}

}  // namespace ztp::cuda
