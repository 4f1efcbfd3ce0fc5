#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// The rates of all entries, added up: what allocate reads and multiplies, without any draw. The limit of its speed.
double read_and_multiply(Pool& pool, const Entries& entries, const Rates& rates);

}  // namespace ztp::cpu
