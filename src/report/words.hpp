// Numbers in sentences.
#pragma once
#include <cstdint>
#include <string>

namespace ztp {

std::string grouped(std::uint64_t number);  // "1,261,750"
std::string percent(double share);          // "28 %", "1.5 %"; of very little "1 in 98,000"

}  // namespace ztp
