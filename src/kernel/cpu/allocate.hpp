#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

double allocate(Pool& pool, const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                const Sums& sums);
void score(Pool& pool, const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z);

}  // namespace ztp::cpu
