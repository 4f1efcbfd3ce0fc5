// The values of an array as a matrix of the host, and back.
#pragma once
#include <algorithm>

#include "base/matrix.hpp"
#include "model/arrays.hpp"

namespace ztp {

template <class T>
Matrix<T> on_host(const RowArray<T>& array) {
  Matrix<T> result(array.rows(), array.columns());
  for_blocks_of_rows(array, [&](Range rows, const T* values) {
    for (std::size_t j = rows.begin; j < rows.end; ++j, values += array.columns())
      std::copy(values, values + array.columns(), result.row(j));
  });
  return result;
}

// The matrix must be as large as the array.
template <class T>
void write_all(const Matrix<T>& from, RowArray<T>& array) {
  for (std::size_t j = 0; j < from.rows(); ++j) array.write({j, j + 1}, from.row(j));
}

}  // namespace ztp
