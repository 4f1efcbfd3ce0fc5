#include "kernel/host_arrays.hpp"

#include <algorithm>

namespace ztp {
namespace {

constexpr std::int64_t largest32 = std::numeric_limits<std::int32_t>::max();

template <class From, class To>
void unpack(const From* packed, Range rows, Matrix<To>& values) {
  for (std::size_t j = rows.begin; j < rows.end; ++j, packed += values.columns())
    std::transform(packed, packed + values.columns(), values.row(j), [](From value) { return static_cast<To>(value); });
}

template <class From, class To>
void pack(const Matrix<From>& values, Range rows, To* packed) {
  for (std::size_t j = rows.begin; j < rows.end; ++j, packed += values.columns())
    std::copy(values.row(j), values.row(j) + values.columns(), packed);
}

// Rows and entries of a run: so many that threads hardly wait for each other to take one, and few enough to share out.
constexpr std::uint64_t run_size = 4096;

}  // namespace

void HostFactors::read(Range rows, float* packed) const {
  pack(values, rows, packed);
}

void HostFactors::write(Range rows, const float* packed) {
  sums_of_groups = {};
  unpack(packed, rows, values);
}

HostCounts::HostCounts(std::size_t rows, std::size_t columns, bool wide, RowPlace place)
    : Counts(rows, columns, place), wide_(wide) {
  if (wide)
    values64_ = Matrix<std::int64_t>(rows, columns);
  else
    values32_ = Matrix<std::int32_t>(rows, columns);
}

void HostCounts::read(Range rows, std::int64_t* packed) const {
  visit([&](const auto& values) { pack(values, rows, packed); });
}

void HostCounts::write(Range rows, const std::int64_t* packed) {
  const std::size_t count = rows.size() * columns();
  if (count == 0) return;
  const auto [least, most] = std::minmax_element(packed, packed + count);
  largest_ = std::max(largest_, *most);
  make_room(0);
  if (*least < -largest32) widen();  // no count is negative, but a damaged file may say so: not to be cut off
  visit([&](auto& values) { unpack(packed, rows, values); });
}

void HostCounts::clear() {
  forget();
  visit([](auto& values) { values.clear(); });
}

void HostCounts::make_room(std::int64_t most) {
  if (wide_) return;
  if (most > largest32 - std::min(largest_, largest32)) return widen();
  largest_ += most;
  if (largest_ > largest32) widen();
}

void HostCounts::widen() {
  if (wide_) return;
  values64_ = Matrix<std::int64_t>(rows(), columns());
  for (std::size_t j = 0; j < rows(); ++j) std::copy(values32_.row(j), values32_.row(j) + columns(), values64_.row(j));
  pinned = {};
  values32_ = {};
  wide_ = true;
}

void make_runs(RowIndex& index) {
  const Buffer<std::uint64_t>& begin = index.begin;
  index.runs.clear();
  const std::size_t n = begin.size() - 1;
  for (std::size_t j = 0; j < n;) {
    const std::size_t first = j;
    while (j < n && begin[j + 1] - begin[first] + (j + 1 - first) <= run_size) ++j;
    if (j > first) {
      index.runs.push_back({{first, j}, begin[first], begin[j], true});
      continue;
    }
    const Blocks parts{begin[j + 1] - begin[j], run_size};
    for (std::size_t i = 0; i < parts.count(); ++i)
      index.runs.push_back({{j, j + 1}, begin[j] + parts.begin(i), begin[j] + parts.end(i), parts.count() == 1});
    ++j;
  }
}

std::vector<RowIndex> index_rows(const std::uint32_t* coords, std::size_t count, const FactorLayout& layout) {
  const std::size_t K = layout.modes();
  std::vector<RowIndex> result;
  if (count > std::numeric_limits<std::uint32_t>::max()) return result;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    std::vector<std::size_t> modes;
    for (std::size_t k = 0; k < K; ++k)
      if (layout.matrix(k) == f) modes.push_back(k);
    const std::size_t n = layout.size(f).rows;
    RowIndex index;
    index.begin.resize(n + 1);
    std::fill(index.begin.begin(), index.begin.end(), 0);
    for (std::size_t e = 0; e < count; ++e)
      for (const std::size_t k : modes) ++index.begin[coords[e * K + k] + 1];
    for (std::size_t j = 0; j < n; ++j) index.begin[j + 1] += index.begin[j];
    if (modes != std::vector<std::size_t>{0}) {  // entries are sorted by their first mode
      index.entry.resize(count * modes.size());
      std::vector<std::uint64_t> next(index.begin.begin(), index.begin.end());
      for (std::size_t e = 0; e < count; ++e)
        for (const std::size_t k : modes) index.entry[next[coords[e * K + k]]++] = static_cast<std::uint32_t>(e);
    }
    make_runs(index);
    result.push_back(std::move(index));
  }
  return result;
}

HostOnes::HostOnes(const HostCells& of, const FactorLayout& layout)
    : Ones(of), cells(of), by_row(of.indexed ? index_rows(of.coords, of.count, layout) : std::vector<RowIndex>()) {}

std::size_t HostOnes::bytes() const {
  std::size_t sum = 0;
  for (const RowIndex& index : by_row) sum += index.bytes();
  return sum;
}

std::size_t array_bytes(const FactorLayout& layout, bool wide) {
  std::size_t bytes = 0;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    const auto [rows, columns] = layout.size(f);
    bytes += Matrix<float>::bytes_of(rows, columns);
    bytes += wide ? Matrix<std::int64_t>::bytes_of(rows, columns) : Matrix<std::int32_t>::bytes_of(rows, columns);
    bytes += Matrix<double>::bytes_of(rows / 256, columns);  // sums of blocks of 256 rows
  }
  return bytes;
}

std::size_t index_bytes(std::size_t cells, const FactorLayout& layout) {
  std::size_t bytes = 0;
  for (std::size_t f = 0; f < layout.matrices(); ++f) bytes += 8 * layout.size(f).rows;
  bytes += sizeof(RowRun) * (2 * cells * layout.modes() + bytes / 8) / run_size;  // two neighbours fill at least one
  const bool tied = layout.matrices() < layout.modes();  // or the first mode needs no list of its entries
  return bytes + 4 * cells * (layout.modes() - (tied ? 0 : 1));
}

}  // namespace ztp
