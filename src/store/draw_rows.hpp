// The rows of a draw's matrices that some cells touch. Cells are scored with these alone: a draw may be larger than
// memory, and most of its rows need not be read.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "store/draws_file.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

// Whether a cell has an entity that the fit has not seen: its id is the number of entities of the mode.
bool has_unseen_entities(const FactorLayout& layout, const std::uint32_t* cells, std::size_t count);

// A set of rows of a matrix.
class RowSet {
 public:
  explicit RowSet(std::size_t rows = 0) : words_((rows + 63) / 64, 0) {}
  bool add(std::uint32_t row);  // false, if it is in the set already
  std::size_t size() const { return size_; }
  // In ascending order.
  std::vector<std::uint32_t> ids() const;
  // To be called after the last add: then there are places in that order.
  void finish();
  std::uint32_t place(std::uint32_t row) const {
    const std::uint64_t below = words_[row / 64] & ((std::uint64_t{1} << row % 64) - 1);
    return before_[row / 64] + static_cast<std::uint32_t>(std::popcount(below));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> before_;  // rows of the set before each word
  std::size_t size_ = 0;
};

class DrawRows {
 public:
  // Of the first of these cells (count x K, at least one): as many as touch no more rows than `room` bytes hold. An
  // entity that the fit has not seen has the mean of all rows, unless its mode is one-hot: that has no such entity.
  DrawRows(const DrawsFile& draws, const std::uint32_t* cells, std::size_t count, double room);

  std::size_t cells() const { return cells_; }
  // Their coordinates, by the places of rows in the state. Refers to the cells, if all rows are there.
  const std::uint32_t* coords() const { return renumbered_.empty() ? given_ : renumbered_.data(); }
  // The layout of the model, with as many rows as there are.
  const FactorLayout& layout() const { return layout_; }
  // For draws to be loaded into. Its factors have some rows alone; its layout is that of the model.
  State make_state(ArrayMaker& arrays) const;
  void load(std::size_t i, State& state) const;  // as DrawsFile::load

 private:
  void renumber(std::vector<RowSet>& sets);
  const DrawsFile& draws_;
  const std::uint32_t* given_;
  std::size_t cells_ = 0;
  std::vector<std::vector<std::uint32_t>> ids_;  // of each matrix, if not all rows are there; none of a one-hot mode
  std::vector<bool> unseen_;  // of each of them: whether there is a last row for an entity that was not seen
  Buffer<std::uint32_t> renumbered_;
  FactorLayout layout_;
};

// Bytes of the matrices of a draw in memory.
double draw_bytes(const FactorLayout& layout);

}  // namespace ztp
