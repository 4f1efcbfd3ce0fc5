// Undirected pairs of the entities of one mode, as networks and what is missing of them are kept: i < j, sorted, each
// once.
#pragma once
#include <cstdint>
#include <string>

#include "io/table.hpp"

namespace ztp {

// A file of pairs over a mode that is known.
TableSpec pair_table(const std::string& path, const Mode& mode);

// What was left out of the pairs that were added.
struct LeftOut {
  std::uint64_t self = 0;      // pairs of an entity with itself
  std::uint64_t repeated = 0;  // a b and b a are one
};
// Adds pairs, in any order and direction, to `to`.
LeftOut add_pairs(const Buffer<std::uint32_t>& pairs, Buffer<std::uint32_t>& to);
// The same with all pairs of a file.
LeftOut read_pairs(const TableSpec& table, Pool& pool, Buffer<std::uint32_t>& to);

}  // namespace ztp
