// Checks of data in memory, shared by make_dataset and updates.
#pragma once
#include <string>
#include <vector>

#include "ztp/arrays.hpp"

namespace ztp {

// Error (usage), if there are too few or too many modes, or a name or label could not be written to a file. Indexes the
// labels.
void check_modes(std::vector<Mode>& modes, const std::string& source);

// Error (usage), if the pairs of a network have ids that the mode does not have.
void check_edges(const Arrays::Edges& edges, const std::vector<Mode>& modes);

}  // namespace ztp
