#include "tensor/missing.hpp"

#include <algorithm>

namespace ztp {

SliceMarks::SliceMarks(const SparseTensor& tensor, const Missing& missing) {
  for (std::size_t k = 0; k < missing.slices.size(); ++k) {
    if (missing.slices[k].empty()) continue;
    std::vector<bool> marks(tensor.modes[k].labels.size(), false);
    for (const std::uint32_t j : missing.slices[k]) marks[j] = true;
    marked_.emplace_back(k, std::move(marks));
  }
}

std::size_t sort_and_merge_missing(const SparseTensor& tensor, Missing& missing) {
  const std::size_t K = tensor.order();
  missing.slices.resize(K);
  const SliceMarks marks(tensor, missing);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < missing.cells.size(); i += K) {
    const std::uint32_t* cell = missing.cells.data() + i;
    if (marks.contain(cell)) continue;
    if (kept != i) std::copy(cell, cell + K, missing.cells.data() + kept);
    kept += K;
  }
  missing.cells.resize(kept);
  return sort_and_merge_records(missing.cells, K);
}

std::size_t add_missing_cells(const SparseTensor& tensor, const Buffer<std::uint32_t>& coords, Missing& missing) {
  missing.cells.append(coords.data(), coords.size());
  return sort_and_merge_missing(tensor, missing);
}

double missing_volume(const SparseTensor& tensor, const Missing& missing) {
  // Slices of mode 1, then those of mode 2 outside them, and so on: sums of what is there, without cancellation.
  double in_slices = 0, observed_before = 1;
  for (std::size_t k = 0; k < missing.slices.size(); ++k) {
    const double slices = static_cast<double>(missing.slices[k].size());
    double cells = observed_before * slices;
    for (std::size_t l = k + 1; l < tensor.order(); ++l) cells *= tensor.modes[l].labels.size();
    in_slices += cells;
    observed_before *= tensor.modes[k].labels.size() - slices;
  }
  return in_slices + static_cast<double>(missing.cells.size() / tensor.order());
}

}  // namespace ztp
