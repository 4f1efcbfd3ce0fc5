// The fast kernel: threads, rows of 16 lanes that the compiler turns into vector instructions, integer sums without
// locks.
#pragma once
#include <memory>

#include "kernel/part_kernel.hpp"

namespace ztp {
std::unique_ptr<PartKernel> make_cpu_kernel(Pool& pool);
}
