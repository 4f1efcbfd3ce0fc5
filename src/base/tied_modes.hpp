// --tie MODE=MODE: which modes share one factor matrix.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ztp {

// For each of the modes with these names, the mode it is tied to, or itself. Error (config), if a mode does not exist
// or more than two are tied.
std::vector<std::size_t> tied_modes(const std::vector<std::string>& tie, const std::vector<std::string>& modes);

}  // namespace ztp
