// The slow, obvious kernel: one thread, double precision, one loop for each formula. The fast kernels are tested
// against it.
#pragma once
#include <memory>

#include "kernel/kernel.hpp"

namespace ztp {
std::unique_ptr<Kernel> make_reference_kernel();
}
