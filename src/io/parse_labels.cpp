#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/parse.hpp"

namespace ztp {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

const char* find(char c, const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, c, static_cast<std::size_t>(end - begin)));
}

// Reads the same line again, slowly, and says what is wrong with it.
[[noreturn, gnu::noinline]] void explain(std::string_view text, std::uint64_t line, const FileLayout& layout) {
  const std::vector<Field> fields = split_fields(text, layout.columns_by, line);
  if (fields.size() != layout.columns)
    throw wrong_column_count(line, text, layout.columns, layout.columns, layout.columns_by);
  for (std::size_t k = 0; k < layout.order; ++k)
    if (fields[k].text.empty())
      throw BadLine{fields[k].line, fields[k].column,
                    fmt::format("an empty label of mode {}; give it a name, or remove the line", layout.names[k])};
  throw BadLine{line, 1, "a line that cannot be read"};
}

[[gnu::noinline]] std::int64_t value_of(std::string_view text, std::uint64_t line, std::size_t column, ValueKind rule) {
  std::int64_t value = 0;
  if (const char* wrong = parse_value(text, rule, value))
    throw BadLine{line, column, fmt::format("the value {} {}", quoted(text), wrong)};
  return value;
}

// A line of a .csv. Labels are views into the block, or into out.texts.
class QuotedLine {
 public:
  QuotedLine(const FileLayout& layout, ParsedBlock& out) : layout_(layout), out_(out) { out_.texts.clear(); }

  // Reads the line that begins at `begin`, and moves it and the number of the line to where it ends. False if it is
  // empty.
  bool read(const char*& begin, const char* end, std::uint64_t& line) {
    const char* const line_begin = begin;
    QuotedFields quoted(begin, end, layout_.columns_by.separator, line);
    fields_.clear();
    for (RawField field; quoted.next(field);) fields_.push_back(field);
    begin = quoted.after();
    const std::uint64_t first_line = std::exchange(line, quoted.last_line());
    if (std::all_of(fields_.begin(), fields_.end(), [](const RawField& field) { return field.text.empty(); }))
      return false;
    text_ = between(line_begin, begin - 1);
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    first_line_ = first_line;
    return true;
  }
  // Error, unless the field is there, and is not the last if others must follow.
  void check(std::size_t k) const {
    if ((k + 1 == fields_.size()) != (k + 1 == layout_.columns)) explain(text_, first_line_, layout_);
    if (k < layout_.order && fields_[k].text.empty()) explain(text_, first_line_, layout_);
  }
  const RawField& operator[](std::size_t k) const { return fields_[k]; }
  std::string_view text(std::size_t k) {
    if (fields_[k].as_it_is) return fields_[k].text;
    append_plain_text(fields_[k].text, out_.texts.emplace_back());
    return out_.texts.back();
  }

 private:
  const FileLayout& layout_;
  ParsedBlock& out_;
  std::vector<RawField> fields_;
  std::string_view text_;  // of the line
  std::uint64_t first_line_ = 0;
};

// Spreadsheets end with such lines.
bool only_separators(const char* begin, const char* end, const Separation& by) {
  return by.quotes && std::all_of(begin, end, [&](char c) { return c == by.separator; });
}

// Lines without quotes, and without TABs in a .csv. `flatten`: the id of a label is found without a call. id_of(k,
// label, line, column) is the id of a label of mode k.
template <class IdOf>
[[gnu::flatten]] void parse_plain_lines(std::string_view text, const FileLayout& layout, const TableSpec& spec,
                                        const IdOf& id_of, ParsedBlock& out) {
  CellWriter writer(out, layout, spec, text.size());
  const char separator = layout.columns_by.separator;
  const char* next = text.data();
  const char* const end = next + text.size();
  std::uint64_t line = 0;
  std::uint64_t entries = 0;
  while (next != end) {
    const char* const begin = next;
    const char* stop = find('\n', begin, end);
    next = stop + 1;
    ++line;
    if (stop != begin && stop[-1] == '\r') --stop;
    if (stop == begin || (*begin == separator && only_separators(begin, stop, layout.columns_by))) continue;
    std::uint32_t* coords = writer.coords();
    const char* field = begin;
    for (std::size_t k = 0; k < layout.order; ++k) {
      const char* field_end = find(separator, field, stop);
      const bool last = k + 1 == layout.columns;
      if ((field_end == nullptr) != last) explain(between(begin, stop), line, layout);
      if (last) field_end = stop;
      if (field_end == field) explain(between(begin, stop), line, layout);
      coords[k] = id_of(k, between(field, field_end), line, static_cast<std::size_t>(field - begin) + 1);
      field = field_end + 1;
    }
    std::int64_t value = 1;
    if (layout.has_value) {
      if (find(separator, field, stop) != nullptr) explain(between(begin, stop), line, layout);
      if (layout.uses_value)
        value = value_of(between(field, stop), line, static_cast<std::size_t>(field - begin) + 1, spec.values);
    }
    writer.commit(value, line);
    ++entries;
  }
  writer.finish();
  out.lines = line;
  out.entries = entries;
}

// The same for lines with quotes.
template <class IdOf>
void parse_quoted_lines(std::string_view text, const FileLayout& layout, const TableSpec& spec, const IdOf& id_of,
                        ParsedBlock& out) {
  CellWriter writer(out, layout, spec, text.size());
  QuotedLine fields(layout, out);
  const char* next = text.data();
  const char* const end = next + text.size();
  std::uint64_t line = 0;
  std::uint64_t entries = 0;
  while (next != end) {
    const std::uint64_t first_line = ++line;
    if (!fields.read(next, end, line)) continue;
    std::uint32_t* coords = writer.coords();
    for (std::size_t k = 0; k < layout.order; ++k) {
      fields.check(k);
      coords[k] = id_of(k, fields.text(k), fields[k].line, fields[k].column);
    }
    if (layout.has_value) fields.check(layout.order);
    std::int64_t value = 1;
    if (layout.uses_value) {
      const RawField& last = fields[layout.order];
      value = value_of(fields.text(layout.order), last.line, last.column, spec.values);
    }
    writer.commit(value, first_line);
    ++entries;
  }
  writer.finish();
  out.lines = line;
  out.entries = entries;
}

bool has_quotes(std::string_view text, const FileLayout& layout) {
  return layout.columns_by.quotes && (text.find('"') != text.npos || text.find('\t') != text.npos);
}

}  // namespace

void parse_labels(std::string_view text, const FileLayout& layout, const TableSpec& spec, std::uint64_t,
                  ParsedBlock& out) {
  const auto parse_lines = [&](const auto& id_of) {
    if (has_quotes(text, layout))
      parse_quoted_lines(text, layout, spec, id_of, out);
    else
      parse_plain_lines(text, layout, spec, id_of, out);
  };
  if (is_closed(spec))
    return parse_lines([&](std::size_t k, std::string_view label, std::uint64_t line, std::size_t column) {
      const auto found = spec.fixed_modes[k]->labels.find(label);
      if (found) return *found;
      if (!is_utf8(label)) throw not_utf8(label, line, column);
      return skip_or_refuse(line, column, label, spec, k, out);
    });
  out.labels.resize(layout.order);
  for (BlockLabels& labels : out.labels) labels.clear();
  if (!layout.checks_utf8)
    return parse_lines([&](std::size_t k, std::string_view label, auto...) { return out.labels[k].add(label); });
  parse_lines([&](std::size_t k, std::string_view label, std::uint64_t line, std::size_t column) {
    if (!is_utf8(label)) throw not_utf8(label, line, column);
    return out.labels[k].add(label);
  });
}

}  // namespace ztp
