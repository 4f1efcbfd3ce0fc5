#include "simulate/distinct_cells.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/errors.hpp"
#include "tensor/records.hpp"
#include "ztp/tensor.hpp"

namespace ztp {
namespace {

// Radix sort in two stages: large ranges are grouped in place by their top byte (American flag sort), until a range and
// a copy of it fit into the cache; such a range is sorted by its least significant digits first.
class KeySorter {
 public:
  void sort(std::uint64_t* keys, std::size_t count, unsigned bits) {
    if (count < 2 || bits == 0) return;
    if (count <= 96) return std::sort(keys, keys + count);
    if (count <= cached) return sort_cached(keys, count, bits);
    const unsigned shift = bits > 8 ? bits - 8 : 0;
    const std::array<std::size_t, 257> bounds = group(keys, count, shift);
    for (std::size_t b = 0; b < 256; ++b) sort(keys + bounds[b], bounds[b + 1] - bounds[b], shift);
  }

 private:
  static constexpr std::size_t cached = 1 << 16;

  static std::array<std::size_t, 257> group(std::uint64_t* keys, std::size_t count, unsigned shift) {
    std::array<std::size_t, 257> bounds{};
    for (std::size_t i = 0; i < count; ++i) ++bounds[((keys[i] >> shift) & 255) + 1];
    for (std::size_t b = 0; b < 256; ++b) bounds[b + 1] += bounds[b];
    std::array<std::size_t, 256> next;
    std::copy(bounds.begin(), bounds.end() - 1, next.begin());
    // Every pass swaps each misplaced key into its group. The swaps of a pass are independent, unlike those of a cycle
    // of displaced keys.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t b = 0; b < 256; ++b) {
        for (std::size_t i = next[b]; i < bounds[b + 1]; ++i)
          std::swap(keys[i], keys[next[(keys[i] >> shift) & 255]++]);
        moved |= next[b] < bounds[b + 1];
      }
    }
    return bounds;
  }

  void sort_cached(std::uint64_t* keys, std::size_t count, unsigned bits) {
    if (scratch_.size() < count) scratch_.resize(count);
    const unsigned most = count >= 8192 ? 11 : 8;  // bits of a digit: many counters pay for many keys only
    const unsigned passes = (bits + most - 1) / most;
    const unsigned digit = (bits + passes - 1) / passes;
    std::uint64_t *from = keys, *to = scratch_.data();
    for (unsigned pass = 0; pass < passes; ++pass) {
      scatter(from, to, count, pass * digit, digit);
      std::swap(from, to);
    }
    if (from != keys) std::copy(from, from + count, keys);
  }

  static void scatter(const std::uint64_t* from, std::uint64_t* to, std::size_t count, unsigned shift, unsigned digit) {
    std::array<std::uint32_t, 2048> next;
    const std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
    std::fill(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(mask + 1), 0u);
    for (std::size_t i = 0; i < count; ++i) ++next[(from[i] >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::size_t d = 0; d <= mask; ++d) {
      const std::uint32_t here = next[d];
      next[d] = sum;
      sum += here;
    }
    for (std::size_t i = 0; i < count; ++i) to[next[(from[i] >> shift) & mask]++] = from[i];
  }

  Buffer<std::uint64_t> scratch_;
};

}  // namespace

void sort_keys(std::uint64_t* keys, std::size_t count, unsigned bits) {
  KeySorter().sort(keys, count, bits);
}

unsigned bits_for(std::uint64_t size) {
  return static_cast<unsigned>(std::bit_width(size - 1));
}

KeySet::KeySet(const std::vector<std::uint64_t>& dims) : shift_(dims.size()), mask_(dims.size()) {
  for (std::size_t k = dims.size(); k-- > 0;) {
    // A mode of one entity takes no bits; its shift must still be less than 64.
    shift_[k] = bits_ < 64 ? bits_ : 0;
    mask_[k] = (std::uint64_t{1} << bits_for(dims[k])) - 1;
    bits_ += bits_for(dims[k]);
  }
}

bool KeySet::fits(const std::vector<std::uint64_t>& dims) {
  unsigned bits = 0;
  for (const std::uint64_t n : dims) bits += bits_for(n);
  return bits <= 64;
}

void KeySet::merge(std::size_t sorted) {
  sort_keys(keys_.data() + sorted, keys_.size() - sorted, bits_);
  if (sorted > 0) std::inplace_merge(keys_.begin(), keys_.begin() + sorted, keys_.end());
  keys_.resize(static_cast<std::size_t>(std::unique(keys_.begin(), keys_.end()) - keys_.begin()));
}

void RecordSet::merge(std::size_t) {
  sort_and_merge_records(words_, width_);
}

unsigned most_rounds(std::uint64_t wanted) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(20'000'000 / wanted, 60, 10'000));
}

void throw_too_few_distinct(const std::string& what, std::uint64_t wanted, std::uint64_t have, unsigned rounds) {
  throw config_error(
      "{}: only {} of {} are distinct after {} rounds of drawing: the components are too small or too uneven for so "
      "many; ask for fewer, or for larger modes",
      what, have, wanted, rounds);
}

}  // namespace ztp
