// Which cells are missing by their slice.
#pragma once
#include <vector>

#include "ztp/tensor.hpp"

namespace ztp {

// One bit an entity, for the modes that have missing slices: a look-up costs O(K).
class SliceMarks {
 public:
  SliceMarks(const SparseTensor& tensor, const Missing& missing);
  bool contain(const std::uint32_t* cell) const {
    for (const auto& [k, marks] : marked_)
      if (marks[cell[k]]) return true;
    return false;
  }

 private:
  std::vector<std::pair<std::size_t, std::vector<bool>>>
      marked_;  // mode, and for each of its entities whether it is missing
};

// Brings missing.cells into the form that Missing promises, and missing.slices to one list a mode. Returns how many cells were
// merged away as repeated; those in a missing slice are dropped and not counted.
std::size_t sort_and_merge_missing(const SparseTensor& tensor, Missing& missing);

}  // namespace ztp
