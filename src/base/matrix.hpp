// A dense matrix with rows of R values, each row padded with zeros to a multiple of 16 and aligned to 64 bytes.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace ztp {

inline constexpr std::size_t lanes = 16;
inline std::size_t padded(std::size_t columns) {
  return (columns + lanes - 1) / lanes * lanes;
}

template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), stride_(padded(columns)) {
    if (rows != 0 && stride_ > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T) / rows) throw std::bad_alloc();
    const std::size_t bytes = rows * stride_ * sizeof(T);
    const std::size_t alignment = bytes >= 4 * large_page ? large_page : 64;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes / alignment * alignment + alignment)));
    if (!data_) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    // Rows are read in random order: with small pages, address translation takes longer than reading. Only a hint.
    if (alignment == large_page) madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
    clear();
  }
  // Rows that lie in memory of someone else, which must outlive it: they keep their values.
  Matrix(std::size_t rows, std::size_t columns, T* values)
      : rows_(rows), columns_(columns), stride_(padded(columns)), data_(values, Free{false}) {}

  std::size_t rows() const {
    return rows_;
  }
  std::size_t columns() const {
    return columns_;
  }
  std::size_t stride() const {
    return stride_;
  }
  T* row(std::size_t j) {
    return data_.get() + j * stride_;
  }
  const T* row(std::size_t j) const {
    return data_.get() + j * stride_;
  }
  std::size_t bytes() const {
    return rows_ * stride_ * sizeof(T);
  }
  static std::size_t bytes_of(std::size_t rows, std::size_t columns) {
    return rows * padded(columns) * sizeof(T);
  }
  void clear() {
    std::memset(static_cast<void*>(data_.get()), 0, bytes());
  }

 private:
  static constexpr std::size_t large_page = std::size_t{1} << 21;

  struct Free {
    bool owned = true;
    void operator()(T* data) const {
      if (owned) std::free(data);
    }
  };
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t stride_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace ztp
