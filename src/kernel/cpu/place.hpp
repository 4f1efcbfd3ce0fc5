// What goes over all rows of a mode, block by block: counts placed in proportion to factors, and statistics looked at or changed as a
// whole. All as in Kernel.
#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// sum over the rows of u^(k)[j, r], for each r. O(n R).                                                       (M18)
std::vector<double> column_mass(Pool& pool, const Matrix<float>& u, Rows rows);
// totals[r] counts, each adding sums.unit to sums.rows[0].                                                    (M18)
void place(Pool& pool, const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals,
           const Streams& streams, const Sums& sums);
// S[j, r] += factor[r] u[j, r]^power, to the nearest whole number.
void spread(Pool& pool, const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
            Matrix<std::int64_t>& S);
void shift(Pool& pool, int bits, Matrix<std::int64_t>& S);
void move(Pool& pool, const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S);
// How often each positive value occurs in S.                                                                  (M20)
Tally tally(Pool& pool, const Matrix<std::int64_t>& S);

}  // namespace ztp::cpu
