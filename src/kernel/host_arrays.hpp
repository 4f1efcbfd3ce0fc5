// Arrays in the memory of the host: those of the kernels that compute there, and of chains that need no kernel.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "kernel/kernel.hpp"

namespace ztp {

// What columns add up to over groups of rows. Which groups there are is fixed, and sums are made group by group in
// order: a part of the rows that begins and ends with groups gives its part of the sum.
struct RowGroupSums {
  std::vector<std::uint64_t> group;  // its number among all rows
  Matrix<double> sums;
};
// The rows of a group, of a matrix of so many: few enough for threads to share them out, and a multiple of the blocks
// that are drawn at once.
inline std::size_t rows_of_sum(std::uint64_t all_rows) {
  if (all_rows >= std::uint64_t{1} << 20) return 4096;
  return std::bit_floor(std::clamp<std::size_t>(all_rows / 128, 16, rows_per_place));
}

class HostFactors final : public Factors {
 public:
  HostFactors(std::size_t rows, std::size_t columns, RowPlace place)
      : HostFactors(Matrix<float>(rows, columns), place) {}
  HostFactors(Matrix<float> values, RowPlace place)
      : Factors(values.rows(), values.columns(), place), values(std::move(values)) {}
  std::size_t bytes() const override { return values.bytes(); }
  void read(Range rows, float* packed) const override;
  void write(Range rows, const float* packed) override;

  Matrix<float> values;
  // What the columns add up to, of the rows that were drawn last, as sum_columns needs it, and which rows these were.
  // No groups: not known.
  RowGroupSums sums_of_groups;
  std::vector<Range> summed_runs;
  mutable std::shared_ptr<void> pinned;  // while a kernel wants the memory of the values to stay in place
};

// In 32 bits for as long as they are certain to fit: half the memory, and half the traffic of adding up.
class HostCounts final : public Counts {
 public:
  HostCounts(std::size_t rows, std::size_t columns, bool wide, RowPlace place);
  std::size_t bytes() const override { return wide_ ? values64_.bytes() : values32_.bytes(); }
  void read(Range rows, std::int64_t* packed) const override;
  void write(Range rows, const std::int64_t* packed) override;
  void clear() override;

  bool wide() const { return wide_; }
  // To be called before values grow, none by more than `most`.
  void make_room(std::int64_t most);
  void widen();
  // All values are about to be overwritten.
  void forget() { largest_ = 0; }

  // Calls body with the matrix of 32 or of 64 bits that has the values.
  template <class Body>
  decltype(auto) visit(const Body& body) const {
    return wide_ ? body(values64_) : body(values32_);
  }
  template <class Body>
  decltype(auto) visit(const Body& body) {
    return wide_ ? body(values64_) : body(values32_);
  }
  // The one of them that has the values, by wide().
  const Matrix<std::int32_t>& values32() const { return values32_; }
  const Matrix<std::int64_t>& values64() const { return values64_; }
  Matrix<std::int64_t>& values64() { return values64_; }

 private:
  bool wide_;
  std::int64_t largest_ = 0;  // no value is larger
  Matrix<std::int32_t> values32_;
  Matrix<std::int64_t> values64_;

 public:
  mutable std::shared_ptr<void> pinned;  // while a kernel wants the memory of the values to stay in place
};

// Rows that follow each other with all their entries, or some of the entries of a row that has many: for one thread.
struct RowRun {
  Range rows;
  std::uint64_t begin, end;  // of RowIndex::entry
  bool whole;                // all entries of these rows
};
// The entries of each row of a matrix, so that counts can be added up row by row instead of entry by entry.
struct RowIndex {
  Buffer<std::uint64_t> begin;  // n + 1: row j has those from begin[j] to begin[j + 1] of `entry`
  Buffer<std::uint32_t> entry;  // empty: all entries in order, as in the first mode of sorted entries
  std::vector<RowRun> runs;     // all rows, in order
  std::size_t bytes() const { return 8 * begin.size() + 4 * entry.size() + sizeof(RowRun) * runs.size(); }
};
void make_runs(RowIndex& index);  // when the rest is there
// One for each matrix of the layout. None, if there are too many entries for 32 bits.
std::vector<RowIndex> index_rows(const std::uint32_t* coords, std::size_t count, const FactorLayout& layout);

// Refers to the cells.
class HostOnes final : public Ones {
 public:
  HostOnes(const HostCells& cells, const FactorLayout& layout);
  std::size_t bytes() const override;

  const HostCells cells;
  const std::vector<RowIndex> by_row;  // of each matrix; empty: no index
};

// Bytes of the factors and counts of a model, with the sums of blocks of the matrices that are being drawn; and of the
// index of so many cells.
std::size_t array_bytes(const FactorLayout& layout, bool wide);
std::size_t index_bytes(std::size_t cells, const FactorLayout& layout);

class HostArrays : public ArrayMaker {
 public:
  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place = {}) override {
    return std::make_unique<HostFactors>(rows, columns, place);
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place = {}) override {
    return std::make_unique<HostCounts>(rows, columns, wide, place);
  }
};

// What a handle of a kernel of the host is.
inline const Matrix<float>& values_of(const Factors& factors) {
  return dynamic_cast<const HostFactors&>(factors).values;
}
inline const HostFactors& on_this_host(const Factors& factors) {
  return dynamic_cast<const HostFactors&>(factors);
}
inline HostFactors& on_this_host(Factors& factors) {
  return dynamic_cast<HostFactors&>(factors);
}
inline HostCounts& on_this_host(Counts& counts) {
  return dynamic_cast<HostCounts&>(counts);
}
inline const HostCounts& on_this_host(const Counts& counts) {
  return dynamic_cast<const HostCounts&>(counts);
}
inline const HostOnes& on_this_host(const Ones& ones) {
  return dynamic_cast<const HostOnes&>(ones);
}

}  // namespace ztp
