// Files of labels, separated by TAB; a first line that begins with # names the modes.
#include <fmt/format.h>

#include <algorithm>

#include "io/flags.hpp"
#include "io/formats.hpp"
#include "io/layout.hpp"
#include "io/parse.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

struct TsvHeader {
  std::vector<Field> names;
  std::string text;        // what names points into
  std::uint64_t line = 0;  // 0: there is none
};

TsvHeader take_tsv_header(LineBlocks& lines) {
  TsvHeader header;
  std::string_view line;
  while (lines.peek(line) && line.empty()) lines.drop();
  if (!line.starts_with('#')) return header;
  header.line = lines.dropped() + 1;
  header.text = line;
  header.text[0] = ' ';
  header.names = split_fields(header.text, tsv_format);
  Field& first = header.names[0];  // "# user" means "#user"
  const std::size_t blanks = std::min(first.text.find_first_not_of(' '), first.text.size());
  first = {first.text.substr(blanks), 1 + blanks};
  lines.drop();
  while (lines.peek(line) && line.empty()) lines.drop();
  return header;
}

// Columns in another order would be read without a complaint, and so would a first cell whose label begins with #.
void check_header_names(const TsvHeader& header, const std::vector<std::string>& modes) {
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (header.names[k].text != modes[k])
      throw BadLine{
          header.line, header.names[k].column,
          fmt::format("the header names {} where the mode {} is expected; the first line, if it begins with #, "
                      "must name the modes in their order: #{}",
                      quoted(header.names[k].text), ztp::quoted(modes[k]), fmt::join(modes, " TAB "))};
}

void check_header_is_no_cell(const TsvHeader& header, const LabelTable& labels) {
  const std::string first = fmt::format("#{}", header.names[0].text);
  if (!labels.find(first)) return;
  throw BadLine{header.line, 1,
                fmt::format("a first line that begins with # is a header, but {} is also an entity; put a "
                            "header line before it",
                            ztp::quoted(first))};
}

void check_order(std::size_t order, const TableSpec& spec, std::uint64_t line) {
  if (order >= 2 && order <= max_modes) return;
  std::string what = plural(order, "column") + " of labels";
  if (spec.values != ValueKind::none) what += " beside the value column";
  what += fmt::format(", but a tensor has 2 to {} modes; ", max_modes);
  if (order > max_modes)
    what += "leave columns out";
  else if (spec.values != ValueKind::none)
    what += "separate columns by TAB, or leave out --values or --likelihood count if the last column is a label";
  else
    what += "separate columns by TAB";
  throw BadLine{line, 1, what};
}

// The header and the first line of data must agree; a value column may be named or not.
void check_header_width(const TsvHeader& header, std::size_t labels, bool value, std::uint64_t line,
                        std::string_view text) {
  const std::size_t names = header.names.size();
  if (header.line == 0 || names == labels || (value && names == labels + 1)) return;
  BadLine bad = wrong_column_count(line, text, names, names + (value ? 1 : 0), tsv_format);
  bad.what += fmt::format(" (the header in line {} names {})", header.line, names);
  if (names == 1)
    bad.what += "; a first line that begins with # must name the columns, separated by TAB: it is no comment";
  else if (!value && labels == names + 1)
    bad.what += "; if the last column is a value, say so with --values";
  throw bad;
}

std::vector<std::string> fixed_names(const TableSpec& spec) {
  std::vector<std::string> names;
  for (const Mode* mode : spec.fixed_modes) names.push_back(mode->name);
  return names;
}

FileLayout tsv_layout(LineBlocks& lines, const TableSpec& spec) {
  const TsvHeader header = take_tsv_header(lines);
  std::string_view text;
  if (!lines.peek(text)) throw no_data_error(lines.name());
  const std::uint64_t line = lines.dropped() + 1;
  FileLayout layout;
  layout.columns = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\t')) + 1;
  layout.has_value = spec.values != ValueKind::none;
  if (spec.fixed_modes.empty()) {
    layout.order = layout.columns - (layout.has_value ? 1 : 0);
    check_header_width(header, layout.order, layout.has_value, line, text);
    check_order(layout.order, spec, line);
    if (header.line != 0 && spec.known != nullptr) check_header_is_no_cell(header, *spec.known);
    for (std::size_t k = 0; k < layout.order && header.line != 0 && spec.known == nullptr; ++k) {
      const auto& [name, column] = header.names[k];
      const std::string wrong = mode_name_problem(name, layout.names);
      if (!wrong.empty()) throw BadLine{header.line, column, wrong};
      layout.names.emplace_back(name);
    }
  } else {
    layout.order = spec.fixed_modes.size();
    if (spec.optional_value) layout.has_value = layout.columns == layout.order + 1;
    const std::size_t expected = layout.order + (layout.has_value ? 1 : 0);
    if (layout.columns != expected) {
      BadLine bad = wrong_column_count(line, text, expected, expected + (spec.optional_value ? 1 : 0), tsv_format);
      bad.what += fmt::format(": {}{}", fmt::join(fixed_names(spec), ", "),
                              layout.has_value      ? ", and 0 or 1"
                              : spec.optional_value ? ", and perhaps 0 or 1"
                                                    : "");
      throw bad;
    }
    check_header_width(header, layout.order, layout.has_value, line, text);
    if (header.line != 0 && spec.header_names_modes) check_header_names(header, fixed_names(spec));
    if (header.line != 0 && !spec.header_names_modes) check_header_is_no_cell(header, spec.fixed_modes[0]->labels);
  }
  for (std::size_t k = layout.names.size(); k < layout.order; ++k) layout.names.push_back(mode_name(spec, k));
  return layout;
}

}  // namespace

const TextFormat tsv_format = {.layout = tsv_layout, .parse = parse_labels, .numbered = false, .tabs = true};

}  // namespace ztp
