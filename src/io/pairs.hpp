// Undirected pairs of the entities of one mode, as networks and what is missing of them are kept: i < j, sorted, each
// once.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/table.hpp"

namespace ztp {

// A file of pairs over a mode that is known.
TableSpec pair_table(const std::string& path, const Mode& mode);

// Appends the pairs of a file as they are there, and returns the names and labels that it found.
std::vector<Mode> read_pairs(const TableSpec& table, Pool& pool, Buffer<std::uint32_t>& to);

// What was left out of pairs.
struct LeftOut {
  std::uint64_t self = 0;      // pairs of an entity with itself
  std::uint64_t repeated = 0;  // a b and b a are one
};
// Brings pairs, in any order and direction, into the form that is kept; in place.
LeftOut sort_and_merge_pairs(Buffer<std::uint32_t>& pairs);

}  // namespace ztp
