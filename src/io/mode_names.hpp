// Names of modes that somebody has chosen.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

// What is wrong with a mode's name, which comes behind others, and what to do; empty if nothing is.
std::string wrong_with_mode_name(std::string_view name, const std::vector<std::string>& before);

}  // namespace ztp
