// Rows of factors: gamma draws in lanes, and what else goes over rows of factors value by value.          (M5), (M28)
#pragma once
#include "kernel/host_arrays.hpp"

namespace ztp::cpu {

// Floats are precise enough for shapes down to this: below, U^(1/a) needs more digits of U.
inline constexpr double smallest_float_shape = 0.01;

// u[j, r] ~ Gamma(a + scale S[j, r], 1) for at most 256 rows; values below the range of floats are zero. Of the columns
// S, a and scale count alone.
void draw_gamma_rows(const Columns& columns, const Streams& streams, Range rows, HostFactors& u);

// sums[r]: the column sums over these rows; padded.
void sum_rows(const Matrix<float>& u, Range rows, double* sums);

// u[j, r] = (a + scale S[j, r]) factor[r] for these rows; factor is padded.
void mean_rows(const Columns& columns, const float* factor, Range rows, Matrix<float>& u);

// u[j, .] *= factor for these rows.
void scale_rows(const float* factor, Range rows, Matrix<float>& u);

}  // namespace ztp::cpu
