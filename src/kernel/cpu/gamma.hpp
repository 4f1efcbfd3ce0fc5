#pragma once
#include <cstdint>

#include "base/matrix.hpp"
#include "base/random.hpp"

namespace ztp::cpu {

// Floats do for shapes down to this: below, U^(1/a) needs more digits of U.
inline constexpr double smallest_float_shape = 0.01;

// u[j, r] ~ Gamma(a + scale S[j, r], 1) for the rows begin..end-1 of at most 256; values below the range of floats are zero.
// sums[r]: the column sums over these rows.
void draw_gamma_rows(const Matrix<std::int64_t>& S, double a, double scale, StreamKey key, std::uint32_t sweep,
                     std::size_t begin, std::size_t end, Matrix<float>& u, double* sums);

// u[j, r] = (a + scale S[j, r]) factor[r] for these rows; factor is padded.
void mean_rows(const Matrix<std::int64_t>& S, double a, double scale, const float* factor, std::size_t begin,
               std::size_t end, Matrix<float>& u);

// u[j, .] *= factor for these rows.
void scale_rows(const float* factor, std::size_t begin, std::size_t end, Matrix<float>& u);

}  // namespace ztp::cpu
