// Checks of the names of modes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

// What is wrong with the name of a mode that follows others, and what to do; empty if nothing is.
std::string mode_name_problem(std::string_view name, const std::vector<std::string>& before);

}  // namespace ztp
