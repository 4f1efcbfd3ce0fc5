// The slow, obvious kernel: one thread, double precision, one loop for each formula. It is what the fast ones are held
// against.
#pragma once
#include <memory>

#include "kernel/kernel.hpp"

namespace ztp {
std::unique_ptr<Kernel> make_reference_kernel();
}
