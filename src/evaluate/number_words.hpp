// Numbers and words in sentences.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ztp {

std::string lower_first(std::string text);  // its first letter
std::string grouped(std::uint64_t number);  // "1,261,750"

// Shares for one sentence, all in the same unit: "28 %" with a no-break space or, if one of them is below 0.001 % and
// not zero, "1 in 98,000". Two digits each, more near 100 %; similar shares get the same number of decimals.
std::vector<std::string> percents(const std::vector<double>& shares);
std::string percent(double share);  // one alone

}  // namespace ztp
