#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "bindings.hpp"

namespace ztp::python {
namespace {

// A column of an array: its first element and the distance between elements, in elements.
template <class T>
struct Column {
  const T* first;
  std::int64_t stride;
  const T& operator[](std::size_t i) const { return first[static_cast<std::int64_t>(i) * stride]; }
};

[[noreturn]] void refuse(const std::string& what, std::size_t row, const std::string& name, const std::string& value,
                         const std::string& expected) {
  throw Error(ErrorKind::usage, fmt::format("{}: row {}, column {}: {}: {}", what, row, name, value, expected));
}

template <class T>
std::uint64_t copy_column(const Column<T>& from, std::size_t rows, std::uint32_t* to, std::size_t step,
                          const std::string& what, const std::string& name) {
  constexpr double limit = static_cast<double>(max_mode_size);
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const T value = from[i];
    if constexpr (std::is_floating_point_v<T>) {
      if (!(value == std::floor(value))) refuse(what, i, name, fmt::format("{}", value), "ids are integers");
    }
    if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>) {
      if (value < 0) refuse(what, i, name, fmt::format("{}", value), "Negative values in data; ids count from 0");
    }
    if (static_cast<double>(value) >= limit)
      refuse(what, i, name, fmt::format("{}", value), fmt::format("ids are below {}", max_mode_size));
    const std::uint32_t id = static_cast<std::uint32_t>(value);
    to[i * step] = id;
    if (id > largest) largest = id;
  }
  return rows == 0 ? 0 : std::uint64_t{largest} + 1;
}

// Calls use(T{}) with the type of the array's numbers.
template <class Use>
auto with_type(const AnyArray& array, const std::string& what, const Use& use) {
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<std::int64_t>()) return use(std::int64_t{});
  if (type == nb::dtype<std::int32_t>()) return use(std::int32_t{});
  if (type == nb::dtype<std::uint32_t>()) return use(std::uint32_t{});
  if (type == nb::dtype<std::uint64_t>()) return use(std::uint64_t{});
  if (type == nb::dtype<std::int16_t>()) return use(std::int16_t{});
  if (type == nb::dtype<std::uint16_t>()) return use(std::uint16_t{});
  if (type == nb::dtype<std::int8_t>()) return use(std::int8_t{});
  if (type == nb::dtype<std::uint8_t>()) return use(std::uint8_t{});
  if (type == nb::dtype<double>()) return use(double{});
  if (type == nb::dtype<float>()) return use(float{});
  throw Error(ErrorKind::usage, fmt::format("{}: ids must be an array of integers", what));
}

}  // namespace

Ids::Ids(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {
  if (columns == 0 || columns > max_modes)
    throw Error(ErrorKind::usage, fmt::format("{} columns: there are 1 to {}", columns, max_modes));
  values_.resize(rows * columns);
}

std::vector<std::uint64_t> Ids::fill(const AnyArray& array, const std::string& what,
                                     const std::vector<std::string>& columns) {
  if (array.ndim() != 2 || array.shape(0) != rows_ || array.shape(1) != columns_ || columns.size() != columns_)
    throw Error(ErrorKind::usage, fmt::format("{}: the array must be {} x {}", what, rows_, columns_));
  return with_type(array, what, [&](auto zero) {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(array.data());
    std::vector<std::uint64_t> largest;
    for (std::size_t k = 0; k < columns_; ++k)
      largest.push_back(copy_column(Column<T>{data + static_cast<std::int64_t>(k) * array.stride(1), array.stride(0)},
                                    rows_, values_.data() + k, columns_, what, columns[k]));
    return largest;
  });
}

std::uint64_t Ids::fill_column(std::size_t column, const AnyArray& array, const std::string& what,
                               const std::string& name) {
  if (column >= columns_ || array.ndim() != 1 || array.shape(0) != rows_)
    throw Error(ErrorKind::usage, fmt::format("{}: column {} must have {} rows", what, name, rows_));
  return with_type(array, what, [&](auto zero) {
    using T = decltype(zero);
    return copy_column(Column<T>{static_cast<const T*>(array.data()), array.stride(0)}, rows_, values_.data() + column,
                       columns_, what, name);
  });
}

Buffer<std::uint32_t> Ids::take() {
  rows_ = 0;
  return std::move(values_);
}

}  // namespace ztp::python
