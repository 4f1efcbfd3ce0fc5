// Adds the new entities of an update to the modes of a run.
#pragma once
#include <string>
#include <vector>

#include "ztp/buffer.hpp"
#include "ztp/labels.hpp"

namespace ztp {

// Translates the ids of `coords`, which refer to the modes `found` in a file or in memory, into ids of the modes
// `columns`, two of which may be the same. Labels that a mode does not have are added at its end; a numbered mode grows
// to the largest number. Error (input), if a column has another name, or a label of a numbered mode is not a number.
void translate_and_grow(const std::vector<const Mode*>& found, const std::vector<Mode*>& columns,
                        const std::string& file, Buffer<std::uint32_t>& coords);

}  // namespace ztp
