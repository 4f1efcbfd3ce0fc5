// The memory and time of fits in which components share columns: see cost.hpp.
#pragma once
#include "kernel/kernel.hpp"
#include "model/factor_layout.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Bytes that a chain takes beside factors, statistics and minibatches, if so many missing cells are imputed at once.
std::size_t shared_chain_bytes(const Dataset& data, const FitOptions& complete, const FactorLayout& layout,
                               std::size_t missing_cells);

constexpr std::size_t most_timed_ones = 200'000;

// Seconds of a sweep, or online of a step. Real chains on a sample of the ones, and of large modes some
// entities; not for networks.
double time_shared_sweep(const Dataset& data, const FitOptions& complete, Pool& pool, Kernel& kernel);

}  // namespace ztp
