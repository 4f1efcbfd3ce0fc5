// What a figure cannot be read without: the machine and the build it comes from.
#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ztp::bench {

std::string cpu_name();
std::string compiler();
std::string simd_target();       // the vector instructions that the kernels use here
unsigned hardware_threads();     // of the machine, or those that this process may run on
std::size_t memory_bytes();      // of the machine
std::size_t last_cache_bytes();  // zero where the system does not tell

nlohmann::ordered_json describe_machine();

}  // namespace ztp::bench
