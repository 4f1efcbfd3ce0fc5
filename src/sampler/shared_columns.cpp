#include "sampler/shared_columns.hpp"

#include <fmt/format.h>

namespace ztp {

void draw_first_columns(const LatentCounts& counts, FactorLayout& layout) {
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const std::size_t P = layout.size_of_mode(k).columns;
    const StreamKey key = counts.key(Purpose::column_start, k);
    const bool one_hot = layout.is_one_hot(layout.matrix(k));
    for (std::size_t r = 0; r < layout.components(); ++r)
      layout.columns_of_mode(k)[r] = static_cast<std::uint32_t>(one_hot && r < P ? r : Stream(key, 0, r).below(P));
  }
}

void add_column_fields(FactorLayout& layout, std::vector<CheckpointField>& fields) {
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const std::span<std::uint32_t> of_mode = layout.columns_of_mode(k);
    fields.push_back({.name = fmt::format("columns{}", k), .data = of_mode.data(), .bytes = of_mode.size_bytes()});
  }
}

bool columns_are_there(const FactorLayout& layout) {
  for (std::size_t k = 0; k < layout.modes(); ++k)
    for (const std::uint32_t q : layout.columns_of_mode(k))
      if (q >= layout.size_of_mode(k).columns) return false;
  return true;
}

}  // namespace ztp
