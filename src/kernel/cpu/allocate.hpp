#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// `component`: room for a word an entry, kept by the caller from call to call.
double allocate(Pool& pool, const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                const Sums& sums, Buffer<std::uint32_t>& component);

}  // namespace ztp::cpu
