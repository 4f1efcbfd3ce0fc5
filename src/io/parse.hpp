// Parses a block of text into cells. Blocks are independent, so that they can be parsed in parallel.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "io/block_labels.hpp"
#include "io/layout.hpp"
#include "io/lines.hpp"
#include "io/table.hpp"

namespace ztp {

struct ParsedBlock {
  CellBlock cells;                   // ids within the block while labels is in use; lines within the block
  std::vector<BlockLabels> labels;   // of formats with labels, unless modes are closed: one for each mode
  std::deque<std::string> texts;     // of labels that are not in the block as they are meant
  std::vector<std::uint64_t> sizes;  // of numbered formats: largest id + 1 of each mode
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;  // lines with a cell
  std::uint64_t zeros = 0;    // cells that are not yielded because their value is zero
  UnknownLines unknown;       // lines that were skipped
  std::optional<BadLine> bad;
};

// Writes cells without bounds checks: there is room for every cell that the block could hold, until finish().
// In place of an id, for a label that is unknown: the cell is skipped.
inline constexpr std::uint32_t unknown_id = 0xffffffff;
class CellWriter {
 public:
  CellWriter(ParsedBlock& block, const FileLayout& layout, const TableSpec& spec, std::size_t bytes);
  std::uint32_t* coords() { return coords_; }  // of the next cell
  void commit(std::int64_t value, std::uint64_t line) {
    if (skips_unknown_ && std::find(coords_, coords_ + order_, unknown_id) != coords_ + order_) {
      ++block_.unknown.lines;
      return;
    }
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
  bool keeps_zeros_, skips_unknown_;
  std::uint32_t* coords_;
  std::int64_t* values_ = nullptr;
  std::uint64_t* lines_ = nullptr;
  std::size_t cells_ = 0;
  std::uint64_t zeros_ = 0;
};

// `most`: how many entries may still follow. An error in the block is stored in out.bad.
void parse_block(const TextBlock& block, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                 ParsedBlock& out);

// The parsers of formats (TextFormat::parse). The text is empty or ends with a newline. parse_labels: labels separated
// by a character, without an announced number of entries; parse_indices: indices separated by blanks.
void parse_labels(std::string_view text, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                  ParsedBlock& out);
void parse_indices(std::string_view text, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                   ParsedBlock& out);

// Parses the value column: 0 or 1, or a count. Returns what is wrong with the text and what to do, or null.
const char* parse_general_value(std::string_view text, ValueKind rule, std::int64_t& value);
inline const char* parse_value(std::string_view text, ValueKind rule, std::int64_t& value) {
  if (text != "1") return parse_general_value(text, rule, value);
  value = 1;  // by far the most common
  return nullptr;
}

// Whether the labels of a column are looked up: its mode is fixed, and others may not be added.
inline bool is_closed(const TableSpec& spec) {
  return !spec.fixed_modes.empty() && !spec.open;
}
// The index of the first row of a numbered column whose labels are discovered.
std::uint32_t first_index(const FileLayout& layout, const TableSpec& spec, std::size_t k);

// A label that its fixed mode does not have. Returns unknown_id, if such lines are skipped.
std::uint32_t skip_or_refuse(std::uint64_t line, std::size_t column, std::string_view label, const TableSpec& spec,
                             std::size_t mode, ParsedBlock& out);
BadLine unknown_label(std::uint64_t line, std::size_t column, std::string_view label, const TableSpec& spec,
                      std::size_t mode);

}  // namespace ztp
