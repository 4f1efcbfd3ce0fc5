#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

std::vector<double> draw_columns(Pool& pool, const Columns& columns, StreamKey key, std::uint32_t sweep,
                                 Matrix<float>& u);
void mean_columns(Pool& pool, const Columns& columns, Matrix<float>& u);
// The gamma draws of draw_columns alone, not normalised: u[j, r] ~ Gamma(a + S[j, r], 1).
void draw_gammas(Pool& pool, const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                 Matrix<float>& u);
double impute_diagonal(Pool& pool, const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                       std::uint32_t sweep, const Sums& sums);

}  // namespace ztp::cpu
