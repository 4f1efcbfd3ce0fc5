// A set of cells.
#pragma once
#include <cstdint>

#include "tensor/records.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

class CellSet {
 public:
  explicit CellSet(std::size_t order) : order_(order) {}
  void add(const std::uint32_t* cells, std::size_t count = 1) { cells_.append(cells, count * order_); }
  void finish() { sort_and_merge_records(cells_, order_); }  // after the last add
  std::size_t size() const { return cells_.size() / order_; }
  const std::uint32_t* cell(std::size_t e) const { return cells_.data() + e * order_; }
  bool contains(const std::uint32_t* cell) const { return find_record(cells_, order_, cell) < size(); }

 private:
  std::size_t order_;
  Buffer<std::uint32_t> cells_;
};

}  // namespace ztp
