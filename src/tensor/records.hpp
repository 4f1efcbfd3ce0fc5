// Sorted lists of records: cells of K words, pairs of two.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "ztp/buffer.hpp"

namespace ztp {

// Sorts records of `width` words in place, lexicographically, and permutes `payload` (if any) with them.
void sort_records(std::uint32_t* records, std::size_t count, std::size_t width, std::int64_t* payload);
// The position of a record among sorted ones; their number, if it is not there.
std::size_t find_record(std::span<const std::uint32_t> records, std::size_t width, const std::uint32_t* wanted);
// Sorts records and merges equal ones; their counts, if any, add up. Returns how many were merged.
std::size_t sort_and_merge_records(Buffer<std::uint32_t>& records, std::size_t width,
                                   Buffer<std::int64_t>* counts = nullptr);
// Removes the records for which remove(i) holds, in place. Returns how many.
template <class Remove>
std::size_t remove_records(Buffer<std::uint32_t>& records, std::size_t width, const Remove& remove) {
  const std::size_t before = records.size() / width;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < before; ++i) {
    if (remove(i)) continue;
    if (kept != i) std::copy_n(records.data() + i * width, width, records.data() + kept * width);
    ++kept;
  }
  records.resize(kept * width);
  return before - kept;
}

}  // namespace ztp
