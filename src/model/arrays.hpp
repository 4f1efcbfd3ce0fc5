// Factors and counts are handles: a kernel makes them and owns their memory, which need not be the host's. Nothing
// above kernel/ holds a pointer into them; whoever needs values copies whole rows from or to the host. A call may be a
// transfer to or from a device: read and write blocks of rows, not one row after another.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/matrix.hpp"

namespace ztp {

// Rows or entries begin..end-1.
struct Range {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

// Which rows of a matrix an array has. By default all of them.
struct RowPlace {
  std::uint64_t first = 0;  // the number of its first row among all rows
  std::uint64_t all = 0;    // rows of the whole matrix; 0: up to the last of its own
  std::size_t matrix = 0;   // of the layout: a kernel of several processes gives the rows of each to owners
};

// n x P numbers, row by row.
template <class T>
class RowArray {
 public:
  RowArray(std::size_t rows, std::size_t columns, RowPlace place)
      : rows_(rows),
        columns_(columns),
        first_row_(place.first),
        all_rows_(place.all != 0 ? place.all : place.first + rows) {}
  virtual ~RowArray() = default;
  RowArray(const RowArray&) = delete;
  RowArray& operator=(const RowArray&) = delete;

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  // The number of its first row among all rows of the matrix. Random streams are keyed by it: a part of the rows draws
  // what the whole would.
  std::uint64_t first_row() const { return first_row_; }
  std::uint64_t all_rows() const { return all_rows_; }  // of the whole matrix
  virtual std::size_t bytes() const = 0;

  // To and from the host: rows.size() x columns() values, packed. Threads may read at the same time, unless someone
  // writes or a kernel computes with the array.
  virtual void read(Range rows, T* values) const = 0;
  virtual void write(Range rows, const T* values) = 0;
  // As read. Where several processes have rows, the first of them gets all, and each other one its own and zeros.
  virtual void collect(Range rows, T* values) const { read(rows, values); }
  // A function that reads rows as they are now, from any thread, while the kernel goes on. Null if that is not
  // possible: rows must then be read before anything is computed.
  virtual std::function<void(Range, T*)> snapshot() const { return nullptr; }
  // How many values are worth a call: a block of them stays in cache on the host.
  virtual std::size_t values_at_once() const { return std::size_t{1} << 14; }

 private:
  std::size_t rows_, columns_;
  std::uint64_t first_row_, all_rows_;
};

using Factors = RowArray<float>;  // n u[j, q]: times n, so that a product over many modes stays in range

// S[j, q]: sums of latent counts.
class Counts : public RowArray<std::int64_t> {
 public:
  using RowArray::RowArray;
  virtual void clear() = 0;
};

// Whoever makes arrays: a kernel, or HostArrays for those that compute without one.
class ArrayMaker {
 public:
  virtual ~ArrayMaker() = default;
  // All zero.
  virtual std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place = {}) = 0;
  // `wide`: sums may be larger than 32 bits hold. Others are narrow, and become wide by themselves when they must. A
  // kernel whose counts are always of 64 bits may ignore it.
  virtual std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place = {}) = 0;
};

// Calls body(rows) for rows that go to or from the host in one call: blocks of values_at_once(), or, of a list of rows
// in ascending order, each run of neighbours.
template <class T, class Body>
void for_row_ranges(const RowArray<T>& array, const std::vector<std::uint32_t>* list, const Body& body) {
  const std::size_t block =
      std::max<std::size_t>(1, array.values_at_once() / std::max<std::size_t>(array.columns(), 1));
  for (std::size_t begin = 0; list == nullptr && begin < array.rows(); begin += block)
    body(Range{begin, std::min(begin + block, array.rows())});
  for (std::size_t begin = 0, end; list != nullptr && begin < list->size(); begin = end) {
    for (end = begin + 1; end < list->size() && (*list)[end] == (*list)[end - 1] + 1;) ++end;
    body(Range{(*list)[begin], std::size_t{(*list)[end - 1]} + 1});
  }
}

// Calls body(rows, values) with the values of these rows on the host, packed. list: the rows, in ascending order; null:
// all of them.
template <class T, class Body>
void for_blocks_of_rows(const RowArray<T>& array, const Body& body, const std::vector<std::uint32_t>* list = nullptr) {
  std::vector<T> values;
  for_row_ranges(array, list, [&](Range rows) {
    values.resize(rows.size() * array.columns());
    array.read(rows, values.data());
    body(rows, values.data());
  });
}
// The same with RowArray::collect, for what only the first of several processes writes down.
template <class T, class Body>
void collect_blocks_of_rows(const RowArray<T>& array, const Body& body) {
  std::vector<T> values;
  for_row_ranges(array, nullptr, [&](Range rows) {
    values.resize(rows.size() * array.columns());
    array.collect(rows, values.data());
    body(rows, values.data());
  });
}

// Writes rows: fill(j, row) sets the values of row j. list: as above.
template <class T, class Fill>
void write_rows(RowArray<T>& array, const Fill& fill, const std::vector<std::uint32_t>* list = nullptr) {
  std::vector<T> values;
  for_row_ranges(array, list, [&](Range rows) {
    values.resize(rows.size() * array.columns());
    for (std::size_t j = rows.begin; j < rows.end; ++j) fill(j, values.data() + (j - rows.begin) * array.columns());
    array.write(rows, values.data());
  });
}

// All values to a matrix of that size on the host, and back.
template <class T, class Number>
void copy_to_host(const RowArray<T>& from, Matrix<Number>& to) {
  for_blocks_of_rows(from, [&](Range rows, const T* values) {
    for (std::size_t j = rows.begin; j < rows.end; ++j, values += from.columns())
      std::copy(values, values + from.columns(), to.row(j));
  });
}
template <class T, class Number>
void copy_from_host(const Matrix<Number>& from, RowArray<T>& to) {
  write_rows(to, [&](std::size_t j, T* row) {
    std::transform(from.row(j), from.row(j) + from.columns(), row, [](Number value) { return static_cast<T>(value); });
  });
}

}  // namespace ztp
