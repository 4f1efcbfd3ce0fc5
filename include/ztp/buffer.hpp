// A growable array of plain values. Unlike std::vector it grows in place where the system can remap pages, and leaves
// new elements uninitialised, so that reading a billion coordinates costs the memory of the result and not twice that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace ztp {

// Moved, never copied. Throws std::bad_alloc where there is no memory; indices are not checked.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }  // elements are not initialised
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (!owner_) std::free(data_);
  }
  // Values that belong to someone else, as to a file that is mapped into memory. The buffer keeps the owner.
  static Buffer of(std::shared_ptr<void> owner, T* data, std::size_t size) {
    Buffer result;
    result.owner_ = std::move(owner);
    result.data_ = data;
    result.size_ = result.capacity_ = size;
    return result;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  operator std::span<const T>() const { return {data_, size_}; }

  // Room for so many elements without growing again.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) throw std::bad_alloc();
    void* grown = std::realloc(owner_ ? nullptr : data_, capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    if (owner_) std::memcpy(grown, data_, size_ * sizeof(T));
    owner_.reset();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }
  // New elements are not initialised.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(size > 2 * capacity_ ? size : 2 * capacity_);
    size_ = size;
  }
  // The values may not be of this buffer: growing may move it.
  void append(const T* values, std::size_t count) {
    resize(size_ + count);
    for (std::size_t i = 0; i < count; ++i) data_[size_ - count + i] = values[i];
  }
  void push_back(T value) { append(&value, 1); }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    owner_.swap(other.owner_);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::shared_ptr<void> owner_;  // of the values, if it is not the buffer
};

}  // namespace ztp
