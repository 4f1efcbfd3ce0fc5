// How much memory there is, and is used.
#pragma once
#include <cstdint>
#include <string>

namespace ztp {

// What this process could have in all: what it has and what the machine has left, or what its control group allows.
double memory_of_machine();
double resident_memory();      // of this process now
std::uint64_t peak_memory();  // of this process, bytes

std::string human_bytes(double bytes);  // 1.2 GiB

}  // namespace ztp
