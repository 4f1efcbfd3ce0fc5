// Modes that are known already and grow with new data.
#pragma once
#include <string>
#include <vector>

#include "ztp/buffer.hpp"
#include "ztp/labels.hpp"

namespace ztp {

// Turns the ids of `coords`, which are of the modes as they were found in a file (or in memory), into ids of the modes
// that its columns belong to, of which two may be the same. Labels that a mode does not have are added at its end; to a numbered
// mode, the numbers up to the largest. Error (input), if the file calls a column otherwise, or has a label in a
// numbered mode that is no such number.
void translate_and_grow(const std::vector<const Mode*>& found, const std::vector<Mode*>& columns,
                        const std::string& file, Buffer<std::uint32_t>& coords);

}  // namespace ztp
