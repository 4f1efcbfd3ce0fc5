// What making a Dataset of arrays is made of, for those who need its parts.
#pragma once
#include <string>
#include <vector>

#include "ztp/arrays.hpp"

namespace ztp {

// Error (usage), if there are too few or too many, or names or labels cannot be in a file. Makes the labels findable.
void check_modes(std::vector<Mode>& modes, const std::string& source);

// Error (usage), if the pairs of a network are no pairs of entities of a mode.
void check_edges(const Arrays::Edges& edges, const std::vector<Mode>& modes);

}  // namespace ztp
