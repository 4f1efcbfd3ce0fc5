#include "tensor/records.hpp"

#include <algorithm>
#include <array>

namespace ztp {
namespace {

// In-place MSD radix sort on bytes, most significant byte of the first word first (McIlroy, Bostic and McIlroy 1993,
// "American flag sort"): no second copy of the data, so that reading needs the memory of the result alone.
class RecordSorter {
 public:
  RecordSorter(std::uint32_t* records, std::size_t width, std::int64_t* payload)
      : records_(records), width_(width), payload_(payload) {}

  void sort(std::size_t begin, std::size_t end, std::size_t digit) {
    while (true) {
      if (end - begin < 2 || digit == 4 * width_) return;
      if (end - begin <= 24) return insertion_sort(begin, end);
      if (partition(begin, end, digit)) break;
      ++digit;  // all records share this byte
    }
    std::array<std::size_t, 257> bounds = bounds_;
    for (std::size_t b = 0; b < 256; ++b) sort(bounds[b], bounds[b + 1], digit + 1);
  }

 private:
  unsigned byte(std::size_t record, std::size_t digit) const {
    return (records_[record * width_ + digit / 4] >> (24 - 8 * (digit % 4))) & 255u;
  }

  bool less(std::size_t a, std::size_t b) const {
    const std::uint32_t* x = records_ + a * width_;
    const std::uint32_t* y = records_ + b * width_;
    return std::lexicographical_compare(x, x + width_, y, y + width_);
  }

  void swap(std::size_t a, std::size_t b) {
    std::swap_ranges(records_ + a * width_, records_ + (a + 1) * width_, records_ + b * width_);
    if (payload_ != nullptr) std::swap(payload_[a], payload_[b]);
  }

  void insertion_sort(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin + 1; i < end; ++i)
      for (std::size_t j = i; j > begin && less(j, j - 1); --j) swap(j, j - 1);
  }

  // Groups the records by one byte and leaves the group bounds in bounds_; false if there is one group only.
  bool partition(std::size_t begin, std::size_t end, std::size_t digit) {
    std::array<std::size_t, 256> count{};
    for (std::size_t i = begin; i < end; ++i) ++count[byte(i, digit)];
    if (count[byte(begin, digit)] == end - begin) return false;
    bounds_[0] = begin;
    for (std::size_t b = 0; b < 256; ++b) bounds_[b + 1] = bounds_[b] + count[b];
    std::array<std::size_t, 256> next;
    std::copy(bounds_.begin(), bounds_.end() - 1, next.begin());
    for (std::size_t b = 0; b < 256; ++b)
      while (next[b] < bounds_[b + 1]) {
        const unsigned home = byte(next[b], digit);
        if (home == b)
          ++next[b];
        else
          swap(next[b], next[home]++);
      }
    return true;
  }

  std::uint32_t* records_;
  std::size_t width_;
  std::int64_t* payload_;
  std::array<std::size_t, 257> bounds_{};
};

}  // namespace

void sort_records(std::uint32_t* records, std::size_t count, std::size_t width, std::int64_t* payload) {
  RecordSorter(records, width, payload).sort(0, count, 0);
}

std::size_t sort_and_merge_records(Buffer<std::uint32_t>& records, std::size_t width, Buffer<std::int64_t>* counts) {
  const std::size_t before = records.size() / width;
  sort_records(records.data(), before, width, counts != nullptr ? counts->data() : nullptr);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < before; ++i) {
    const std::uint32_t* record = records.data() + i * width;
    if (kept > 0 && std::equal(record, record + width, records.data() + (kept - 1) * width)) {
      if (counts != nullptr) (*counts)[kept - 1] += (*counts)[i];
      continue;
    }
    if (kept != i) {
      std::copy(record, record + width, records.data() + kept * width);
      if (counts != nullptr) (*counts)[kept] = (*counts)[i];
    }
    ++kept;
  }
  records.resize(kept * width);
  if (counts != nullptr) counts->resize(kept);
  return before - kept;
}

std::size_t find_record(std::span<const std::uint32_t> records, std::size_t width, const std::uint32_t* wanted) {
  const std::size_t count = records.size() / width;
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::uint32_t* here = records.data() + middle * width;
    if (std::lexicographical_compare(here, here + width, wanted, wanted + width))
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && std::equal(wanted, wanted + width, records.data() + low * width) ? low : count;
}

}  // namespace ztp
