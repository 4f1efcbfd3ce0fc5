// Sums of outer products in lanes.
#pragma once
#include <cstddef>

namespace ztp {

// Adds sum_i x_i x_i' to the R x stride matrix A, its lower triangle at least; x: count rows of `stride` floats,
// aligned to 64 bytes, those beyond R zero. stride: padded(R). O(count R^2).
void add_gram(const float* x, std::size_t count, std::size_t R, std::size_t stride, float* A);

}  // namespace ztp
