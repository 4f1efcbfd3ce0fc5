#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "io/parse.hpp"

namespace ztp {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// What an index of a column may be, and how it becomes an id.
struct IndexColumn {
  std::uint64_t least = 1;            // the smallest index allowed
  std::uint64_t count = 0;            // how many are allowed from there
  std::uint64_t first_id = 0;         // the id of the smallest
  const LabelTable* named = nullptr;  // a fixed mode with names: the digits are looked up as a label
};

IndexColumn index_column(const FileLayout& layout, const TableSpec& spec, std::size_t k) {
  const std::uint64_t size = layout.sizes.empty() ? max_mode_size : layout.sizes[k];
  if (!is_closed(spec)) return {first_index(layout, spec, k), size, 0, nullptr};
  const LabelTable& table = spec.fixed_modes[k]->labels;
  if (!table.is_numbered()) return {layout.base, size, 0, &table};
  // An index is the label that it spells, except with --index-base 0 over labels that count from 1.
  if (layout.sizes.empty()) return {std::min(layout.base, table.first_number()), table.size(), 0, nullptr};
  const std::uint64_t first = table.first_number();
  const std::uint64_t least = std::max<std::uint64_t>(first, layout.base);
  const std::uint64_t stop = std::min(first + table.size(), layout.base + size);
  return {least, stop > least ? stop - least : 0, least - first, nullptr};
}

struct LineParser {
  LineParser(const FileLayout& file_layout, const TableSpec& file_spec, ParsedBlock& block)
      : layout(file_layout), spec(file_spec), out(block) {
    for (std::size_t k = 0; k < layout.order; ++k) columns[k] = index_column(layout, spec, k);
  }

  const FileLayout& layout;
  const TableSpec& spec;
  ParsedBlock& out;
  std::array<IndexColumn, max_modes> columns;
  const char* begin = nullptr;  // of the line
  const char* at = nullptr;
  std::uint64_t line = 0;

  std::size_t column(const char* place) const { return static_cast<std::size_t>(place - begin) + 1; }
  std::string_view rest_of_field(const char* field) const {
    const char* stop = field;
    while (!is_blank(*stop) && *stop != '\n') ++stop;
    return {field, static_cast<std::size_t>(stop - field)};
  }
  std::string_view whole_line() const {
    const char* stop = begin;
    while (*stop != '\n') ++stop;
    if (stop != begin && stop[-1] == '\r') --stop;
    return {begin, static_cast<std::size_t>(stop - begin)};
  }
  void skip_blanks() {
    while (is_blank(*at)) ++at;
  }
  void check_columns() const {
    if (split_fields(whole_line(), layout.columns_by, line).size() != layout.columns)
      throw wrong_column_count(line, whole_line(), layout.columns, layout.columns, layout.columns_by);
  }

  // Reads the line again, slowly, and says what is wrong with its index of mode k. Returns unknown_id, if the entity is
  // unknown and such lines are skipped.
  std::uint32_t explain_index(const char* field, std::size_t k);
  std::uint32_t index(std::size_t k);
  std::int64_t value();
  bool mirror(const char* row, const char* column_field, std::uint32_t* coords);
};

std::uint32_t LineParser::explain_index(const char* field, std::size_t k) {
  check_columns();
  const std::string_view text = rest_of_field(field);
  const auto bad = [&](std::string what) { return BadLine{line, column(field), std::move(what)}; };
  if (text.find_first_not_of("0123456789") != text.npos)
    throw bad(fmt::format("the index {} is not an integer; write indices in digits", quoted(text)));
  const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
  const std::string_view digits = text.substr(zeros);
  if (!layout.sizes.empty()) {
    const std::string last = std::to_string(layout.base + layout.sizes[k] - 1);
    if ((digits.empty() && layout.base > 0) || digits.size() > last.size() ||
        (digits.size() == last.size() && digits > last))
      throw bad(fmt::format("the index {} of mode {} is outside {} to {}, the size in the header; correct one of them",
                            quoted(text), layout.names[k], layout.base, last));
  }
  if (is_closed(spec)) {
    at = field + text.size();
    skip_blanks();
    return skip_or_refuse(line, column(field), text, spec, k, out);
  }
  if (digits.empty())
    throw bad(fmt::format("the index 0 of mode {}, where indices start at 1; give --index-base 0 if they start at 0",
                          layout.names[k]));
  throw bad(fmt::format("the index {} of mode {} is too large; the largest is {}", quoted(text), layout.names[k],
                        std::uint64_t{max_mode_size} - 1 + layout.base));
}

inline std::uint32_t LineParser::index(std::size_t k) {
  const char* const field = at;
  const auto digit = [](char c) { return static_cast<unsigned>(static_cast<unsigned char>(c)) - unsigned{'0'}; };
  std::uint64_t number = digit(*at);
  if (number > 9) return explain_index(field, k);
  for (unsigned d = digit(*++at); d <= 9; d = digit(*++at)) number = 10 * number + d;
  const IndexColumn& allowed = columns[k];
  const std::uint64_t place = number - allowed.least;  // wraps around to a large one below the least
  // 19 digits cannot overflow.
  if (place >= allowed.count || at - field > 19 || !(is_blank(*at) || *at == '\n')) return explain_index(field, k);
  skip_blanks();
  if (allowed.named == nullptr) return static_cast<std::uint32_t>(place + allowed.first_id);
  const auto found = allowed.named->find(rest_of_field(field));
  return found ? *found : explain_index(field, k);
}

// The mirrored cell; false on the diagonal. Indices are looked up again, since two fixed modes may differ.
bool LineParser::mirror(const char* row, const char* column_field, std::uint32_t* coords) {
  const char* const after = at;
  const auto digits = [this](const char* field) {
    const std::string_view text = rest_of_field(field);
    return text.substr(std::min(text.find_first_not_of('0'), text.size()));
  };
  if (digits(row) == digits(column_field)) return false;
  at = column_field;
  coords[0] = index(0);
  at = row;
  coords[1] = index(1);
  at = after;
  return true;
}

inline std::int64_t LineParser::value() {
  if (*at == '\n') check_columns();
  const std::string_view text = rest_of_field(at);
  at += text.size();
  if (!layout.uses_value) return 1;
  std::int64_t result = 0;
  if (const char* wrong = parse_value(text, spec.values, result)) {
    check_columns();
    throw BadLine{line, column(text.data()), fmt::format("the value {} {}", quoted(text), wrong)};
  }
  return result;
}

BadLine too_many_entries(const LineParser& parser) {
  return {parser.line, parser.column(parser.at),
          fmt::format("more entries than the {} that line {} announces; correct the header or remove them",
                      *parser.layout.cells, parser.layout.cells_line)};
}

}  // namespace

std::uint32_t first_index(const FileLayout& layout, const TableSpec& spec, std::size_t k) {
  if (spec.fixed_modes.empty() || !layout.sizes.empty()) return layout.base;
  const LabelTable& table = spec.fixed_modes[k]->labels;
  return table.is_numbered() ? std::min(layout.base, table.first_number()) : layout.base;
}

void parse_indices(std::string_view text, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                   ParsedBlock& out) {
  LineParser parser(layout, spec, out);
  CellWriter writer(out, layout, spec, text.size());
  std::array<std::uint32_t, max_modes> largest{};
  std::array<const char*, 2> fields{};
  const std::size_t order = layout.order;
  const char* const end = text.data() + text.size();
  std::uint64_t entries = 0;
  for (parser.at = text.data(); parser.at != end; ++parser.at) {
    parser.begin = parser.at;
    ++parser.line;
    parser.skip_blanks();
    if (*parser.at == '\n') continue;
    if (*parser.at == layout.comment) {
      parser.at = static_cast<const char*>(std::memchr(parser.at, '\n', static_cast<std::size_t>(end - parser.at)));
      continue;
    }
    if (entries++ == most) throw too_many_entries(parser);
    std::uint32_t* coords = writer.coords();
    for (std::size_t k = 0; k < order; ++k) {
      if (k < 2) fields[k] = parser.at;
      coords[k] = parser.index(k);
      largest[k] = std::max(largest[k], coords[k]);
    }
    const std::int64_t value = layout.has_value ? parser.value() : 1;
    parser.skip_blanks();
    if (*parser.at != '\n') parser.check_columns();
    writer.commit(value, parser.line);
    if (layout.mirrored && parser.mirror(fields[0], fields[1], writer.coords())) writer.commit(value, parser.line);
  }
  writer.finish();
  out.lines = parser.line;
  out.entries = entries;
  out.sizes.assign(order, 0);
  for (std::size_t k = 0; k < order && entries > 0; ++k) out.sizes[k] = std::uint64_t{largest[k]} + 1;
}

}  // namespace ztp
