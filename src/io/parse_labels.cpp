#include <fmt/format.h>

#include <cstring>

#include "io/parse.hpp"

namespace ztp {
namespace {

// Reads the same line again, slowly, and says what is wrong with it.
[[noreturn]] void explain(std::string_view text, std::uint64_t line, const FileLayout& layout) {
  const std::vector<Field> fields = split_fields(text, *layout.format);
  if (fields.size() != layout.columns)
    throw wrong_column_count(line, text, layout.columns, layout.columns, *layout.format);
  for (std::size_t k = 0; k < layout.order; ++k)
    if (fields[k].text.empty())
      throw BadLine{line, fields[k].column,
                    fmt::format("an empty label of mode {}; give it a name, or leave the line out", layout.names[k])};
  throw BadLine{line, 1, "a line that cannot be read"};
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

const char* find_tab(const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, '\t', static_cast<std::size_t>(end - begin)));
}

std::int64_t value_of(const char* line_begin, std::string_view text, std::uint64_t line, ValueKind rule) {
  std::int64_t value = 0;
  if (const char* wrong = parse_value(text, rule, value))
    throw BadLine{line, static_cast<std::size_t>(text.data() - line_begin) + 1,
                  fmt::format("the value {} {}", quoted(text), wrong)};
  return value;
}

// id_of(k, label, line, column) is the id of a label of mode k.
template <class IdOf>
void parse_lines(std::string_view text, const FileLayout& layout, const TableSpec& spec, const IdOf& id_of,
                 ParsedBlock& out) {
  CellWriter writer(out, layout, spec, text.size());
  const char* next = text.data();
  const char* const end = next + text.size();
  std::uint64_t line = 0;
  std::uint64_t entries = 0;
  while (next != end) {
    const char* const begin = next;
    const char* stop = static_cast<const char*>(std::memchr(begin, '\n', static_cast<std::size_t>(end - begin)));
    next = stop + 1;
    ++line;
    if (stop != begin && stop[-1] == '\r') --stop;
    if (stop == begin) continue;
    std::uint32_t* coords = writer.coords();
    const char* field = begin;
    for (std::size_t k = 0; k < layout.order; ++k) {
      const char* tab = find_tab(field, stop);
      const bool last = k + 1 == layout.columns;
      if ((tab == nullptr) != last) explain(between(begin, stop), line, layout);
      const char* field_end = last ? stop : tab;
      if (field_end == field) explain(between(begin, stop), line, layout);
      coords[k] = id_of(k, between(field, field_end), line, static_cast<std::size_t>(field - begin) + 1);
      field = field_end + 1;
    }
    std::int64_t value = 1;
    if (layout.has_value) {
      if (find_tab(field, stop) != nullptr) explain(between(begin, stop), line, layout);
      if (layout.uses_value) value = value_of(begin, between(field, stop), line, spec.values);
    }
    writer.commit(value, line);
    ++entries;
  }
  writer.finish();
  out.lines = line;
  out.entries = entries;
}

}  // namespace

void parse_labels(std::string_view text, const FileLayout& layout, const TableSpec& spec, std::uint64_t,
                  ParsedBlock& out) {
  if (!spec.fixed_modes.empty()) {
    const auto known_id = [&](std::size_t k, std::string_view label, std::uint64_t line, std::size_t column) {
      const auto found = spec.fixed_modes[k]->labels.find(label);
      if (!found) throw unknown_label(line, column, label, spec, k);
      return *found;
    };
    return parse_lines(text, layout, spec, known_id, out);
  }
  out.labels.resize(layout.order);
  for (BlockLabels& labels : out.labels) labels.clear();
  const auto new_id = [&](std::size_t k, std::string_view label, auto...) { return out.labels[k].add(label); };
  parse_lines(text, layout, spec, new_id, out);
}

}  // namespace ztp
