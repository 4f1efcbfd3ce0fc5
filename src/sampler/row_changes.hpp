// Single changes of counts that a kernel owns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/arrays.hpp"

namespace ztp {

struct RowChange {
  std::uint32_t row, column;
  std::int64_t by;
};

// Makes all of these changes, in any order. No count becomes negative, as it might where it has been rounded.
inline void change_rows(std::vector<RowChange>& changes, Counts& counts) {
  std::sort(changes.begin(), changes.end(), [](const RowChange& x, const RowChange& y) { return x.row < y.row; });
  std::vector<std::int64_t> values(counts.columns());
  for (std::size_t begin = 0, end; begin < changes.size(); begin = end) {
    const std::uint32_t row = changes[begin].row;
    counts.read({row, row + std::size_t{1}}, values.data());
    for (end = begin; end < changes.size() && changes[end].row == row; ++end)
      values[changes[end].column] += changes[end].by;
    for (std::int64_t& value : values) value = std::max<std::int64_t>(value, 0);
    counts.write({row, row + std::size_t{1}}, values.data());
  }
  changes.clear();
}

}  // namespace ztp
