// Undirected pairs of entities of one mode: the edges and missing pairs of a network. Stored with i < j, sorted and
// distinct.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/table.hpp"

namespace ztp {

// A file of pairs of entities of a known mode.
TableSpec pair_table(const std::string& path, const Mode& mode);

// Appends the pairs of a file unchanged, and returns the modes of its two columns.
std::vector<Mode> read_pairs(const TableSpec& table, Pool& pool, Buffer<std::uint32_t>& to);

// How many pairs were dropped.
struct DroppedPairs {
  std::uint64_t self = 0;      // pairs of an entity with itself
  std::uint64_t repeated = 0;  // a b and b a are one
};
// Brings pairs in any order and direction into the stored form, in place.
DroppedPairs sort_and_merge_pairs(Buffer<std::uint32_t>& pairs);

}  // namespace ztp
