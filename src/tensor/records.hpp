// Sorted lists of records: cells of K words, pairs of two.
#pragma once
#include <cstdint>
#include <span>

#include "ztp/buffer.hpp"

namespace ztp {

// Sorts records of `width` words in place, lexicographically, and carries `payload` (if any) along.
void sort_records(std::uint32_t* records, std::size_t count, std::size_t width, std::int64_t* payload);
// Where a record is among sorted ones, or how many there are, if it is not.
std::size_t find_record(std::span<const std::uint32_t> records, std::size_t width, const std::uint32_t* wanted);
// Sorts them and keeps each once; counts, if there are any, add up. Returns how many were merged away.
std::size_t sort_and_merge_records(Buffer<std::uint32_t>& records, std::size_t width,
                                   Buffer<std::int64_t>* counts = nullptr);

}  // namespace ztp
