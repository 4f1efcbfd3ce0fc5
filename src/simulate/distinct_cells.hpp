// Sets of distinct cells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ztp/buffer.hpp"

namespace ztp {

// Bits that hold the numbers 0..size-1.
unsigned bits_for(std::uint64_t size);

// Cells as one 64-bit key each: the coordinates side by side, the first mode on top, so that keys sort as cells do.
class KeySet {
 public:
  explicit KeySet(const std::vector<std::uint64_t>& dims);
  static bool fits(const std::vector<std::uint64_t>& dims) { return KeySet(dims).bits_ <= 64; }

  std::size_t size() const { return keys_.size(); }
  void reserve(std::size_t cells) { keys_.reserve(cells); }
  // Appends `count` cells without values and returns the first; then call set() for every mode, in order.
  std::size_t grow(std::size_t count) {
    keys_.resize(keys_.size() + count);
    return keys_.size() - count;
  }
  void set(std::size_t begin, std::size_t count, std::size_t k, const std::uint32_t* ids) {
    std::uint64_t* keys = keys_.data() + begin;
    const unsigned shift = shift_[k];
    for (std::size_t i = 0; i < count; ++i)
      keys[i] = (k == 0 ? 0 : keys[i]) | (static_cast<std::uint64_t>(ids[i]) << shift);
  }
  void get(std::size_t e, std::uint32_t* cell) const {
    const std::uint64_t key = keys_[e];
    for (std::size_t k = 0; k < shift_.size(); ++k) cell[k] = static_cast<std::uint32_t>((key >> shift_[k]) & mask_[k]);
  }
  // Sorts all cells and removes repeated ones; the first `sorted` are sorted and distinct already.
  void merge(std::size_t sorted);

 private:
  std::vector<unsigned> shift_;
  std::vector<std::uint64_t> mask_;
  unsigned bits_ = 0;
  Buffer<std::uint64_t> keys_;
};

// The same for cells that do not fit into 64 bits: K words each.
class RecordSet {
 public:
  explicit RecordSet(const std::vector<std::uint64_t>& dims) : width_(dims.size()) {}

  std::size_t size() const { return words_.size() / width_; }
  void reserve(std::size_t cells) { words_.reserve(cells * width_); }
  std::size_t grow(std::size_t count) {
    words_.resize(words_.size() + count * width_);
    return size() - count;
  }
  void set(std::size_t begin, std::size_t count, std::size_t k, const std::uint32_t* ids) {
    for (std::size_t i = 0; i < count; ++i) words_[(begin + i) * width_ + k] = ids[i];
  }
  void get(std::size_t e, std::uint32_t* cell) const {
    for (std::size_t k = 0; k < width_; ++k) cell[k] = words_[e * width_ + k];
  }
  void merge(std::size_t sorted);

 private:
  std::size_t width_;
  Buffer<std::uint32_t> words_;
};

}  // namespace ztp
