// Latent counts one by one: the positive y_ir, each with its cell. What moves of whole components are made from, where
// components share columns.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ztp {

struct LatentParts {
  std::size_t K = 0;
  std::vector<std::uint32_t> cells;      // x K
  std::vector<std::uint32_t> component;  // of each
  std::vector<std::int64_t> count;       // of each, positive
  std::size_t of_ones = 0;               // the first so many are of ones; the others are imputed
  std::size_t in_statistics = 0;         // the first so many are in the statistics already

  std::size_t size() const { return component.size(); }
  const std::uint32_t* cell(std::size_t i) const { return cells.data() + i * K; }
  void add(const std::uint32_t* cell, std::size_t r, std::int64_t units) {
    cells.insert(cells.end(), cell, cell + K);
    component.push_back(static_cast<std::uint32_t>(r));
    count.push_back(units);
  }
  void clear() {
    cells.clear();
    component.clear();
    count.clear();
    of_ones = in_statistics = 0;
  }
};

}  // namespace ztp
