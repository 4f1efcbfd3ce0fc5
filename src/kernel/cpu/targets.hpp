// Which instruction sets the vector kernels are compiled for; to be included before Highway. On x86-64 SSE4.2 (every
// processor since 2009), AVX2 and AVX-512, chosen at run time; on ARM NEON. Vectors of a length unknown to the compiler
// do not fit rows of 16 lanes.
#pragma once
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
