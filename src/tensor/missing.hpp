// Which cells are missing by their slice.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "ztp/tensor.hpp"

namespace ztp {

// One bit an entity, for the modes that have missing slices, so that a look-up costs O(K); or their list, where it is
// short and the entities are many (a file of a few bytes can announce billions), and is searched.
class SliceMarks {
 public:
  SliceMarks(const SparseTensor& tensor, const Missing& missing);
  bool contain(const std::uint32_t* cell) const {
    for (const Marked& mode : marked_)
      if (mode.list.empty() ? mode.marks[cell[mode.k]]
                            : std::binary_search(mode.list.begin(), mode.list.end(), cell[mode.k]))
        return true;
    return false;
  }

 private:
  struct Marked {
    std::size_t k;
    std::vector<bool> marks;          // for each entity whether it is missing
    std::vector<std::uint32_t> list;  // or those that are, sorted
  };
  std::vector<Marked> marked_;
};

// Brings missing.cells into the form that Missing promises, and missing.slices to one list a mode. Returns how many
// cells were merged away as repeated; those in a missing slice are dropped and not counted.
std::size_t sort_and_merge_missing(const SparseTensor& tensor, Missing& missing);

// For data that did not come from files: throws Error (config) unless slices and pairs are of entities that exist, and
// no one or edge is missing; brings everything else into the form that Missing promises.
void check_missing(const SparseTensor& tensor, std::span<const Network> networks, Missing& missing);

}  // namespace ztp
