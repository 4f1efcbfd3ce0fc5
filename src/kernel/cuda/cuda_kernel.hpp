#pragma once
#include <memory>

#include "kernel/kernel.hpp"

namespace ztp {

// Computes on the first GPU. Throws Error (config), if there is none or libztp_cuda.so is not there.
std::unique_ptr<Kernel> make_cuda_kernel();
// Whether that would work.
bool has_cuda();

}  // namespace ztp
