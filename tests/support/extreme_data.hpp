// Small data sets: full, empty but for a one, random (seed 1), with networks.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "ztp/read.hpp"

namespace ztp::test {

using Cell = std::vector<std::uint32_t>;

inline Dataset dataset(const std::vector<std::uint32_t>& sizes) {
  Dataset data;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    data.tensor.modes.push_back({"m" + std::to_string(k + 1), LabelTable::numbered(1, sizes[k])});
  return data;
}

inline void add(Dataset& data, const Cell& cell, std::int64_t count = 0) {
  data.tensor.coords.append(cell.data(), cell.size());
  if (count > 0) data.tensor.counts.push_back(count);
}

inline std::vector<std::uint32_t> sizes_of(const Dataset& data) {
  std::vector<std::uint32_t> sizes;
  for (const Mode& mode : data.tensor.modes) sizes.push_back(mode.labels.size());
  return sizes;
}

// Cells all over the tensor, every step-th of them.
inline std::vector<Cell> cells_of(const std::vector<std::uint32_t>& sizes, std::size_t step = 1) {
  std::vector<Cell> cells;
  std::size_t volume = 1;
  for (const std::uint32_t n : sizes) volume *= n;
  for (std::size_t i = 0; i < volume; i += step) {
    Cell cell;
    std::size_t rest = i;
    for (const std::uint32_t n : sizes) cell.push_back(static_cast<std::uint32_t>(rest % n)), rest /= n;
    cells.push_back(cell);
  }
  return cells;
}

inline Dataset full(const std::vector<std::uint32_t>& sizes) {
  Dataset data = dataset(sizes);
  for (const Cell& cell : cells_of(sizes)) add(data, cell);
  data.tensor.sort_and_merge();
  return data;
}

inline Dataset random_ones(const std::vector<std::uint32_t>& sizes, std::size_t ones,
                           const std::function<void(Cell&)>& change = {}) {
  Dataset data = dataset(sizes);
  Stream stream(stream_key(1, 0, Purpose::simulate), 0, sizes.size());
  for (std::size_t e = 0; e < ones; ++e) {
    Cell cell;
    for (const std::uint32_t n : sizes) cell.push_back(static_cast<std::uint32_t>(stream.below(n)));
    if (change) change(cell);
    add(data, cell);
  }
  data.tensor.sort_and_merge();
  return data;
}

inline Dataset with_network(Dataset data, std::size_t mode,
                            const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                            const std::vector<std::pair<std::uint32_t, std::uint32_t>>& missing = {}) {
  Network network;
  network.mode = mode;
  network.source = "network";
  for (const auto& [i, j] : edges) network.edges.push_back(i), network.edges.push_back(j);
  for (const auto& [i, j] : missing) network.missing.push_back(i), network.missing.push_back(j);
  data.networks.push_back(std::move(network));
  return data;
}

inline std::vector<std::pair<std::uint32_t, std::uint32_t>> all_pairs(std::uint32_t n) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = i + 1; j < n; ++j) pairs.emplace_back(i, j);
  return pairs;
}

}  // namespace ztp::test
