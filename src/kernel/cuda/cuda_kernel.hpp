#pragma once
#include <memory>

#include "kernel/kernel.hpp"

namespace ztp {

// Computes on the first GPU. Throws Error (config), if there is none or libztp_cuda.so is not there.
std::unique_ptr<Kernel> make_cuda_kernel();
// Whether that would work.
bool has_cuda();
// Throws Error (config), if a chain of so many ones at once does not fit into the memory that the GPU has free: with
// what it needs, and with the rank that would fit, if it is one of CP.
void require_gpu_memory(const FactorLayout& layout, std::uint64_t ones, bool counts, bool wide);

}  // namespace ztp
