#include "io/pairs.hpp"

#include <algorithm>

#include "tensor/records.hpp"

namespace ztp {
namespace {

// Low end first. Returns how many were pairs of an entity with itself, which are dropped.
std::uint64_t append_pairs(const Buffer<std::uint32_t>& pairs, Buffer<std::uint32_t>& to) {
  std::uint64_t self = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const auto [low, high] = std::minmax(pairs[i], pairs[i + 1]);
    if (low == high) {
      ++self;
      continue;
    }
    to.push_back(low);
    to.push_back(high);
  }
  return self;
}

}  // namespace

TableSpec pair_table(const std::string& path, const Mode& mode) {
  TableSpec spec;
  spec.path = path;
  spec.closed = {&mode, &mode};
  return spec;
}

LeftOut add_pairs(const Buffer<std::uint32_t>& pairs, Buffer<std::uint32_t>& to) {
  const std::uint64_t self = append_pairs(pairs, to);
  return {self, sort_and_merge_records(to, 2)};
}

LeftOut read_pairs(const TableSpec& table, Pool& pool, Buffer<std::uint32_t>& to) {
  TableReader reader(table, pool);
  LeftOut left_out;
  CellBlock block;
  while (reader.next(block)) left_out.self += append_pairs(block.coords, to);
  left_out.repeated = sort_and_merge_records(to, 2);
  return left_out;
}

}  // namespace ztp
