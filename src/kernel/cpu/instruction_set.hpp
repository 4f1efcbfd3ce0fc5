// The instruction sets that the vector kernels are compiled for and this processor has.
#pragma once
#include <string>
#include <vector>

namespace ztp::cpu {

// Best first, e.g. AVX3 (which is AVX-512), AVX2, SSE4.
std::vector<std::string> instruction_sets();
// Throws an Error if there is none.
void check_instruction_set();
// From now on all kernels of this process use this one; empty: the best. For tests and benchmarks; not while a kernel
// works.
void use_instruction_set(const std::string& name);

}  // namespace ztp::cpu
