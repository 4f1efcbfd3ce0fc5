// What goes over all rows of a mode, block by block: counts placed in proportion to factors, and statistics looked at
// or changed as a whole. All as in Kernel.
#pragma once
#include "kernel/host_arrays.hpp"

namespace ztp::cpu {

std::vector<double> column_mass(Pool& pool, const Matrix<float>& u, RowMask rows);  // (M18)
void place(Pool& pool, const Matrix<float>& u, RowMask rows, const std::vector<std::int64_t>& totals,
           const Streams& streams, std::int64_t unit, HostCounts& S);  // (M18)
void spread(Pool& pool, const Matrix<float>& u, RowMask rows, int power, const std::vector<double>& factor,
            HostCounts& S);
void shift(Pool& pool, int bits, HostCounts& S);
void move(Pool& pool, const HostCounts& towards, double part, HostCounts& S);
Tally tally(Pool& pool, const HostCounts& S);  // (M20)

}  // namespace ztp::cpu
