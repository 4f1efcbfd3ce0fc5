// Missing slices and cells.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "ztp/tensor.hpp"

namespace ztp {

// Whether a cell lies in a missing slice. One bit per entity of the modes that have missing slices, so that a look-up
// takes O(K); or a sorted list, if the entities are many (a tiny file can announce billions) and few of them missing.
class MissingSlices {
 public:
  MissingSlices(const SparseTensor& tensor, const Missing& missing);
  bool contains(const std::uint32_t* cell) const {
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

// Brings missing.cells into the form that Missing promises, and missing.slices to one list per mode. Returns how many
// repeated cells were merged; cells in a missing slice are dropped and not counted.
std::size_t sort_and_merge_missing(const SparseTensor& tensor, Missing& missing);

// For data that did not come from files: brings them into the form that Missing promises. Error (config), if a slice or
// pair is of an entity that does not exist, or a one or edge is missing.
void check_missing(const SparseTensor& tensor, std::span<const Network> networks, Missing& missing);

}  // namespace ztp
