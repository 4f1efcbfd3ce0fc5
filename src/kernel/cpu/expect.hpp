#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// The expectations of the entries' latent counts, added into sums: what allocate does with Sums::expected.            (M26)
double expect(Pool& pool, const Entries& entries, const Rates& rates, const Sums& sums);

}  // namespace ztp::cpu
