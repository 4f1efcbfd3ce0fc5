// --tie MODE=MODE: which modes share one factor matrix.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ztp {

// For each of the modes with these names, the one it is tied to; itself, if it is to none. Error (config), if a mode is
// not there or more than two are tied.
std::vector<std::size_t> tied_modes(const std::vector<std::string>& tie, const std::vector<std::string>& modes);

}  // namespace ztp
