// Random subsets of the cells of a tensor, without visiting every cell.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// Beyond these a test set is refused (config). A cell costs 4 K + 1 bytes in memory and a line in the file.
inline constexpr std::uint64_t max_test_cells = 100'000'000;          // where all cells are drawn at once
inline constexpr std::uint64_t max_drawn_test_cells = 1'000'000'000;  // held-out ones, and zeros drawn for them

// `count` of the numbers 0..population-1, ascending; every subset is equally likely.
std::vector<std::uint64_t> draw_subset(StreamKey key, std::uint64_t population, std::uint64_t count);

// The cells outside missing slices: a box of the remaining entities of each mode, numbered in lexicographic order.
class ObservedBox {
 public:
  ObservedBox(const SparseTensor& tensor, const Missing& missing);
  void keep_from(std::size_t mode, std::uint32_t entity);  // drops the entities before it

  std::size_t order() const { return size_.size(); }
  std::uint32_t size(std::size_t k) const { return size_[k]; }
  std::uint32_t entity(std::size_t k, std::uint32_t place) const {
    return observed_[k].empty() ? first_[k] + place : observed_[k][first_[k] + place];
  }
  std::optional<std::uint64_t> volume() const;  // nothing if it passes 2^63
  bool contains(const std::uint32_t* cell) const;
  std::uint64_t count(std::span<const std::uint32_t> cells) const;  // those inside
  std::uint64_t index(const std::uint32_t* cell) const;
  void cell(std::uint64_t number, std::uint32_t* out) const;

 private:
  std::uint32_t place(std::size_t k, std::uint32_t j) const;  // of an entity among observed_

  std::vector<std::vector<std::uint32_t>> observed_;  // where a mode has missing slices: the other entities; else empty
  std::vector<std::uint32_t> first_;                  // places before it are left out
  std::vector<std::uint32_t> size_;
};

// Cells that are not drawn: two sorted lists, each of distinct cells, that have none in common.
struct ExcludedCells {
  std::span<const std::uint32_t> ones, others = {};

  bool contains(const std::uint32_t* cell, std::size_t order) const;
  std::uint64_t count_in(const ObservedBox& box) const { return box.count(ones) + box.count(others); }
};

// Changes numbers that count only the cells outside `excluded` into numbers of cells of the box. They are sorted.
void number_outside(const ObservedBox& box, const ExcludedCells& excluded, std::vector<std::uint64_t>& numbers);

// Draws `wanted` cells of the box outside `excluded`, sorted, for a box whose cells can be numbered. `population`: how
// many such cells there are. Nothing is rejected, however full the box is.
Buffer<std::uint32_t> draw_cells_by_number(const ObservedBox& box, const ExcludedCells& excluded,
                                           std::uint64_t population, std::uint64_t wanted, StreamKey key);
// The same for a box of more than 2^63 cells: draws random cells until there are enough distinct ones.
Buffer<std::uint32_t> draw_cells_by_rejection(const ObservedBox& box, const ExcludedCells& excluded,
                                              std::uint64_t wanted, StreamKey key);

// Bytes that holding out takes: of test cells the numbers, and the cells twice.
inline double holding_out_bytes(std::size_t order, double test_cells) {
  return test_cells * static_cast<double>(8 + 2 * (4 * order + 1));
}

}  // namespace ztp
