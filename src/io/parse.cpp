#include "io/parse.hpp"

#include <fmt/format.h>

#include "io/formats.hpp"

namespace ztp {

CellWriter::CellWriter(ParsedBlock& block, const FileLayout& layout, const TableSpec& spec, std::size_t bytes)
    : block_(block),
      order_(layout.order),
      keeps_zeros_(spec.values == ValueKind::zero_one || spec.values == ValueKind::outcomes) {
  // An index or label takes at least a byte and a separator. One extra cell, for coordinates that are not kept.
  const std::size_t most = (layout.mirrored ? 2 : 1) * (bytes / (2 * order_)) + 1;
  block.cells.coords.resize(most * order_);
  coords_ = block.cells.coords.data();
  const bool stores_values = spec.values != ValueKind::none;
  block.cells.values.resize(stores_values ? most : 0);
  if (stores_values) values_ = block.cells.values.data();
  block.cells.lines.resize(spec.keep_lines ? most : 0);
  if (spec.keep_lines) lines_ = block.cells.lines.data();
}

void CellWriter::finish() {
  block_.cells.coords.resize(cells_ * order_);
  if (values_ != nullptr) block_.cells.values.resize(cells_);
  if (lines_ != nullptr) block_.cells.lines.resize(cells_);
  block_.zeros = zeros_;
}

BadLine unknown_label(std::uint64_t line, std::size_t column, std::string_view label, const TableSpec& spec,
                      std::size_t mode) {
  const std::string name = mode_name(spec, mode);
  return {line, column,
          fmt::format("unknown {} {}: not among the {} entities of mode {}{}{}", name, quoted(label),
                      spec.fixed_modes[mode]->labels.size(), name, spec.unknown_remedy.empty() ? "" : "; ",
                      spec.unknown_remedy)};
}

void parse_block(const TextBlock& block, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                 ParsedBlock& out) {
  out.bad.reset();
  std::string_view text = block.text();
  const std::size_t bad_place = find_bad_byte(text);
  if (bad_place != text.npos) {
    // The lines before it are parsed first: one of them may be bad, too.
    const std::size_t newline = text.substr(0, bad_place).rfind('\n');
    text = text.substr(0, newline == text.npos ? 0 : newline + 1);
  }
  try {
    layout.format->parse(text, layout, spec, most, out);
    if (bad_place != text.npos) throw bad_byte(block.text()[bad_place], out.lines + 1, bad_place - text.size() + 1);
    if (block.overlong) throw line_too_long(out.lines + 1);
  } catch (BadLine& bad) {
    out.bad = std::move(bad);
  }
}

}  // namespace ztp
