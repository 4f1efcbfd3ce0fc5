// Numbers in sentences.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ztp {

std::string grouped(std::uint64_t number);  // "1,261,750"

// Shares that stand in one sentence, all in the same unit: "28 %" with a space that does not break, or "1 in 98,000", if one of them is
// less than 0.001 % and not zero. Two digits each, more next to 100 %; those that are near each other have the same decimals.
std::vector<std::string> percents(const std::vector<double>& shares);
std::string percent(double share);  // one alone

}  // namespace ztp
