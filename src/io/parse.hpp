// One block of text into cells. Blocks know nothing of each other, so that any number of them can be parsed at once.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "io/block_labels.hpp"
#include "io/layout.hpp"
#include "io/lines.hpp"
#include "io/table.hpp"

namespace ztp {

struct ParsedBlock {
  CellBlock cells;                   // ids within the block while labels is in use; lines within the block
  std::vector<BlockLabels> labels;   // of formats with labels, unless closed: one for each mode
  std::vector<std::uint64_t> sizes;  // of numbered formats: largest id + 1 of each mode
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;  // lines with a cell
  std::uint64_t zeros = 0;    // cells that are not yielded because their value is zero
  std::optional<BadLine> bad;
};

// How a value becomes a cell, or not.
struct ValueRule {
  ValueRule(const TableSpec& spec, const Layout& layout)
      : values(spec.values),
        parsed(layout.has_value && !(spec.optional_value && !spec.closed.empty() && spec.values == Values::none)),
        stored(spec.values != Values::none),
        keeps_zeros(spec.values == Values::zero_one) {}
  Values values;
  bool parsed;       // else the column is absent or ignored
  bool stored;       // in CellBlock::values
  bool keeps_zeros;  // as cells
};

// Room for every cell that a block could hold, written without checks and cut to size at the end.
class CellWriter {
 public:
  CellWriter(ParsedBlock& block, const Layout& layout, const TableSpec& spec, const ValueRule& rule, std::size_t bytes);
  std::uint32_t* coords() { return coords_; }  // of the next cell
  void commit(std::int64_t value, std::uint64_t line) {
    if (value == 0 && !keeps_zeros_) {
      ++zeros_;
      return;
    }
    coords_ += order_;
    if (values_ != nullptr) values_[cells_] = value;
    if (lines_ != nullptr) lines_[cells_] = line;
    ++cells_;
  }
  void finish();

 private:
  ParsedBlock& block_;
  std::size_t order_;
  bool keeps_zeros_;
  std::uint32_t* coords_;
  std::int64_t* values_ = nullptr;
  std::uint64_t* lines_ = nullptr;
  std::size_t cells_ = 0;
  std::uint64_t zeros_ = 0;
};

// `most` is how many entries may still come; what is wrong with the block, if anything, ends in out.bad.
void parse_block(const TextBlock& block, const Layout& layout, const TableSpec& spec, std::uint64_t most,
                 ParsedBlock& out);

// What a format may use for TextFormat::parse; text is empty or ends with a newline. The first is for labels separated
// by TAB, and for formats that announce no number of entries; the second for indices.
void parse_labels(std::string_view text, const Layout& layout, const TableSpec& spec, std::uint64_t most,
                  ParsedBlock& out);
void parse_indices(std::string_view text, const Layout& layout, const TableSpec& spec, std::uint64_t most,
                   ParsedBlock& out);
BadLine unknown_label(std::uint64_t line, std::size_t column, std::string_view label, const TableSpec& spec,
                      std::size_t mode);

}  // namespace ztp
