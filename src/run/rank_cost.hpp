// What each of several processes that share a chain needs.
#pragma once
#include "kernel/cuda/cuda_kernel.hpp"
#include "ztp/check.hpp"

namespace ztp {

// Whether it is known: of batch sampling, where columns are components.
bool has_process_cost(const FitOptions& complete);
// With so many processes a chain. Ones are counted, nothing is timed.
ProcessCost process_cost(const Dataset& data, const FitOptions& complete, std::size_t ranks);

// How a fit uses the memory of GPUs. ones: that are in memory.
GpuUse gpu_use(const FitOptions& complete, const FactorLayout& layout, std::size_t ones, std::size_t ranks);

}  // namespace ztp
