#include "io/parse.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/formats.hpp"

namespace ztp {

CellWriter::CellWriter(ParsedBlock& block, const FileLayout& layout, const TableSpec& spec, std::size_t bytes)
    : block_(block),
      order_(layout.order),
      keeps_zeros_(spec.values == ValueKind::zero_one || spec.values == ValueKind::outcomes),
      skips_unknown_(spec.skip_unknown) {
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

std::uint32_t skip_or_refuse(std::uint64_t line, std::size_t column, std::string_view label, const TableSpec& spec,
                             std::size_t mode, ParsedBlock& out) {
  if (!spec.skip_unknown) throw unknown_label(line, column, label, spec, mode);
  out.unknown.add_label(fmt::format("{} {}", mode_name(spec, mode), quoted(label)));
  return unknown_id;
}

namespace {

// The lines that end before a place; with quotes, those that do not end inside of some.
std::string_view lines_before(std::string_view text, std::size_t place, bool quotes) {
  bool inside = quotes && std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '"') % 2 != 0;
  for (std::size_t end = place; end > 0; --end) {
    if (quotes && text[end - 1] == '"') inside = !inside;
    if (text[end - 1] == '\n' && !inside) return text.substr(0, end);
  }
  return {};
}

BadLine bad_byte_at(std::string_view text, std::size_t place) {
  const std::string_view before = text.substr(0, place);
  return bad_byte(text[place], 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')),
                  place - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
}

}  // namespace

void parse_block(const TextBlock& block, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                 ParsedBlock& out) {
  out.bad.reset();
  out.unknown = {};
  std::string_view text = block.text();
  const std::size_t bad_place = find_bad_byte(text);
  // The lines before it are parsed first: one of them may be bad, too.
  if (bad_place != text.npos) text = lines_before(text, bad_place, layout.columns_by.quotes);
  try {
    layout.format->parse(text, layout, spec, most, out);
    if (bad_place != text.npos) throw bad_byte_at(block.text(), bad_place);
    if (block.overlong) throw line_too_long(out.lines + 1);
  } catch (BadLine& bad) {
    out.bad = std::move(bad);
  }
}

}  // namespace ztp
