// Adds new entities to modes: those of an update to the modes of a run, and those that a network or a list of missing
// data names to the modes of the ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ztp/buffer.hpp"
#include "ztp/labels.hpp"

namespace ztp {

// Translates the ids of `coords`, which refer to the modes `found` in a file or in memory, into ids of the modes
// `columns`, two of which may be the same. Labels that a mode does not have are added at its end; a numbered mode grows
// to the largest number. Error (input), if a column has another name, or a label of a numbered mode is not a number.
void translate_and_grow(const std::vector<const Mode*>& found, const std::vector<Mode*>& columns,
                        const std::string& file, Buffer<std::uint32_t>& coords);

// The modes of a tensor, to which entities are added at the end. Tied modes keep the same entities.
class OpenModes {
 public:
  OpenModes(std::vector<Mode>& modes, const std::vector<std::string>& tie);

  // The id of a label of mode k, which is added if it is new. Error (input), if the labels are numbers and it is not.
  std::uint32_t find_or_add(std::size_t k, std::string_view label, const std::string& where);
  // Translates the ids of `coords`, which refer to the modes `found` in a file, into ids of modes `columns`.
  void translate(const std::vector<Mode>& found, const std::vector<std::size_t>& columns, const std::string& file,
                 Buffer<std::uint32_t>& coords);

 private:
  std::vector<Mode>& modes_;
  std::vector<std::size_t> tied_;  // of each mode the one that has the same entities, or itself
};

}  // namespace ztp
