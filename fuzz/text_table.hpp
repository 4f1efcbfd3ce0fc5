// Reads a file of cells as chosen by two bytes, and checks what every reader of cells relies on.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness.hpp"
#include "io/formats.hpp"
#include "io/table.hpp"

namespace fuzz {

struct Cells {
  std::vector<std::uint32_t> coords;
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> lines;
  std::vector<std::string> labels;  // of all modes, one after the other
  std::string error;
  bool operator==(const Cells&) const = default;
};

inline ztp::TableSpec chosen_table(const std::string& path, unsigned first, unsigned second) {
  static const ztp::Mode numbers = {"a", ztp::LabelTable::numbered(1, 40)};
  static const ztp::Mode from_zero = {"b", ztp::LabelTable::numbered(0, 9)};
  static const ztp::Mode words = [] {
    ztp::Mode mode = {"c", {}};
    for (const char* word : {"a", "b", "c", "1", "2", "30", "x y", "#a"}) mode.labels.add(word);
    return mode;
  }();
  ztp::TableSpec spec;
  spec.path = path;
  spec.block_bytes = 1 << 12;  // less for the sanitizers to do than with the default
  // 0: the file tells. There is room for 31 formats.
  const unsigned format = ((second >> 4 & 7) << 2 | (first & 3)) % (std::size(ztp::text_formats) + 1);
  if (format > 0) spec.format = ztp::text_formats[format - 1];
  spec.values = static_cast<ztp::ValueKind>(first >> 2 & 3);
  spec.optional_value = (first >> 4 & 1) != 0;
  spec.index_base = first >> 5 & 1;
  spec.keep_lines = (first >> 6 & 1) != 0;
  switch (second & 7) {
    case 1:
      spec.fixed_modes = {&numbers, &numbers};
      break;
    case 2:
      spec.fixed_modes = {&words, &numbers, &from_zero};
      break;
    case 3:
      spec.fixed_modes = {&words, &words};
      break;
    case 4:
      spec.fixed_modes = {&from_zero, &words, &words};
      break;
    case 5:
      spec.known = &words.labels;
      break;
    case 6:
      spec.header = true;
      break;
    case 7:
      spec.header = false;
      break;
    default:
      break;
  }
  spec.open = (first >> 7 & 1) != 0 && !spec.fixed_modes.empty();
  spec.header_names_modes = (second >> 3 & 1) != 0 && !spec.fixed_modes.empty();
  return spec;
}

inline void read_cells(const ztp::TableSpec& spec, Cells& result) {
  ztp::TableReader reader(spec, pool());
  const std::size_t K = reader.order();
  REQUIRE(K >= 2 && K <= ztp::max_modes);
  ztp::CellBlock block;
  while (reader.next(block)) {
    const std::size_t cells = block.cells(K);
    REQUIRE(cells > 0 && cells * K == block.coords.size());
    REQUIRE(block.values.size() == (spec.values == ztp::ValueKind::none ? 0 : cells));
    REQUIRE(block.lines.size() == (spec.keep_lines ? cells : 0));
    result.coords.insert(result.coords.end(), block.coords.begin(), block.coords.end());
    result.values.insert(result.values.end(), block.values.begin(), block.values.end());
    result.lines.insert(result.lines.end(), block.lines.begin(), block.lines.end());
  }
  const std::vector<ztp::Mode> modes = reader.take_modes();
  REQUIRE(modes.size() == K);
  for (std::size_t i = 0; i < result.coords.size(); ++i) {
    const std::size_t k = i % K;
    const ztp::LabelTable& labels =
        spec.fixed_modes.empty() || spec.open ? modes[k].labels : spec.fixed_modes[k]->labels;
    REQUIRE(result.coords[i] < labels.size());
  }
  for (const std::int64_t value : result.values) REQUIRE(value >= 0);
  for (const ztp::Mode& mode : modes) {
    result.labels.push_back(mode.name);
    REQUIRE(mode.labels.size() <= ztp::max_mode_size);
    for (std::uint32_t j = 0; j < mode.labels.size() && j < 100; ++j) {
      result.labels.push_back(mode.labels[j]);
      REQUIRE(mode.labels.find(result.labels.back()) == j);
    }
  }
}

inline Cells cells_of(ztp::TableSpec spec, std::size_t block_bytes) {
  Cells result;
  spec.block_bytes = block_bytes;
  if (accepted([&] { read_cells(spec, result); }, &result.error)) return result;
  Cells nothing;  // how far it came before the error depends on the blocks
  nothing.error = result.error;
  return nothing;
}

}  // namespace fuzz
