#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// z of some cells, on the thread that calls.
void score_block(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z);
// z of every cell.
void score(Pool& pool, const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z);

}  // namespace ztp::cpu
