#include "io/pairs.hpp"

#include <algorithm>

#include "tensor/records.hpp"

namespace ztp {

TableSpec pair_table(const std::string& path, const Mode& mode) {
  TableSpec spec;
  spec.path = path;
  spec.fixed_modes = {&mode, &mode};
  return spec;
}

std::vector<Mode> read_pairs(const TableSpec& table, Pool& pool, Buffer<std::uint32_t>& to) {
  TableReader reader(table, pool);
  CellBlock block;
  while (reader.next(block)) to.append(block.coords.data(), block.coords.size());
  return reader.take_modes();
}

DroppedPairs sort_and_merge_pairs(Buffer<std::uint32_t>& pairs) {
  DroppedPairs dropped;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const std::uint32_t low = std::min(pairs[i], pairs[i + 1]), high = std::max(pairs[i], pairs[i + 1]);
    if (low == high) {
      ++dropped.self;
      continue;
    }
    pairs[kept++] = low;
    pairs[kept++] = high;
  }
  pairs.resize(kept);
  dropped.repeated = sort_and_merge_records(pairs, 2);
  return dropped;
}

}  // namespace ztp
