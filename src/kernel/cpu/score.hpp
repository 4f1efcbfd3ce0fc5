// Rates of cells in lanes.                                                                                     (M2)
#pragma once
#include "kernel/entry_draw.hpp"

namespace ztp::cpu {

// z of some cells, on the thread that calls.
void score_block(const std::uint32_t* coords, std::size_t count, const HostRates& rates, double* z);
// z of every cell.
void score(Pool& pool, const std::uint32_t* coords, std::size_t count, const HostRates& rates, double* z);
// The rates of all entries, added up: what allocate reads and multiplies, without any draw. A benchmark's limit of its
// speed.
double read_and_multiply(Pool& pool, const HostCells& cells, const HostRates& rates);

}  // namespace ztp::cpu
