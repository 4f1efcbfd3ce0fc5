// Missing slices and cells.
#pragma once
#include <algorithm>
#include <span>

#include "ztp/tensor.hpp"

namespace ztp {

// Whether a cell lies in a missing slice. O(K log n) for lists of n slices.
inline bool in_missing_slice(const Missing& missing, const std::uint32_t* cell) {
  for (std::size_t k = 0; k < missing.slices.size(); ++k)
    if (std::binary_search(missing.slices[k].begin(), missing.slices[k].end(), cell[k])) return true;
  return false;
}

// Brings missing.cells into the form that Missing promises, and missing.slices to one list per mode. Returns how many
// repeated cells were merged; cells in a missing slice are dropped and not counted.
std::size_t sort_and_merge_missing(const SparseTensor& tensor, Missing& missing);

// For data that did not come from files: brings them into the form that Missing promises. Error (config), if a slice or
// pair is of an entity that does not exist, or a one or edge is missing.
void check_missing(const SparseTensor& tensor, std::span<const Network> networks, Missing& missing);

}  // namespace ztp
