// What goes over all rows of a mode, block by block: counts placed in proportion to factors, and statistics looked at
// or changed as a whole. All as in Kernel.
#pragma once
#include "kernel/host_arrays.hpp"

namespace ztp::cpu {

std::vector<double> column_mass(Pool& pool, const Matrix<float>& u, RowMask rows);  // (M18)
// Blocks of rows_per_place rows of a whole matrix, of which these may be a part: what u adds up to in each, blocks x
// columns, and the number of the first block that is here.
struct PlaceSums {
  const double* of_all;
  std::size_t blocks, first;
};
// Of the wanted rows of the blocks that are here, packed.
std::vector<double> sums_of_places(Pool& pool, const Matrix<float>& u, RowMask rows);
// Places on the rows that are here what all rows get.                                                            (M18)
void place(Pool& pool, const Matrix<float>& u, RowMask rows, const std::vector<std::int64_t>& totals,
           const Streams& streams, std::int64_t unit, const PlaceSums& sums, HostCounts& S);
void spread(Pool& pool, const Matrix<float>& u, RowMask rows, int power, const std::vector<double>& factor,
            HostCounts& S);
void shift(Pool& pool, int bits, HostCounts& S);
void move(Pool& pool, const HostCounts& towards, double part, HostCounts& S);
Tally tally(Pool& pool, const HostCounts& S);  // (M20)

}  // namespace ztp::cpu
