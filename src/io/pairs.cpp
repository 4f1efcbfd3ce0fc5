#include "io/pairs.hpp"

#include <algorithm>

#include "tensor/records.hpp"

namespace ztp {

TableSpec pair_table(const std::string& path, const Mode& mode) {
  TableSpec spec;
  spec.path = path;
  spec.closed = {&mode, &mode};
  return spec;
}

std::vector<Mode> read_pairs(const TableSpec& table, Pool& pool, Buffer<std::uint32_t>& to) {
  TableReader reader(table, pool);
  CellBlock block;
  while (reader.next(block)) to.append(block.coords.data(), block.coords.size());
  return reader.take_modes();
}

LeftOut sort_and_merge_pairs(Buffer<std::uint32_t>& pairs) {
  LeftOut left_out;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const std::uint32_t low = std::min(pairs[i], pairs[i + 1]), high = std::max(pairs[i], pairs[i + 1]);
    if (low == high) {
      ++left_out.self;
      continue;
    }
    pairs[kept++] = low;
    pairs[kept++] = high;
  }
  pairs.resize(kept);
  left_out.repeated = sort_and_merge_records(pairs, 2);
  return left_out;
}

}  // namespace ztp
