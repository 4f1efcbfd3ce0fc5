// The columns of a mode: Dirichlet draws over blocks of rows, in lanes (gamma.hpp) where floats hold and in logs where not, their means,
// and the diagonal of a network.
#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// As in Kernel.                                                                                        (M5), (M27)
std::vector<double> draw_columns(Pool& pool, const Columns& columns, const Streams& streams, Matrix<float>& u);
// As in Kernel.                                                                                        (M28)
void mean_columns(Pool& pool, const Columns& columns, Matrix<float>& u);
// The gamma draws of draw_columns alone, not normalised: u[j, r] ~ Gamma(a + scale S[j, r], 1).
void draw_gammas(Pool& pool, const Columns& columns, const Streams& streams, Matrix<float>& u);
// As in Kernel.                                                                                        (M12)
double impute_diagonal(Pool& pool, const Matrix<float>& u, const std::vector<double>& log_beta, const Streams& streams,
                       const Sums& sums);

}  // namespace ztp::cpu
