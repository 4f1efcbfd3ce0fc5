// Files as spreadsheets write them: columns separated by commas or semicolons, which may be in double quotes. The first
// line usually names the columns.
#include "io/first_rows.hpp"
#include "io/formats.hpp"
#include "io/layout_labels.hpp"
#include "io/parse.hpp"

namespace ztp {
namespace {

FileLayout csv_layout(LineBlocks& lines, const TableSpec& spec) {
  lines.keep_quoted_line_ends();
  FileLayout layout;
  layout.columns_by = csv_format.columns_by;
  std::string_view line;
  while (lines.peek(line) && line.empty()) lines.drop();
  const char announced = announced_separator(line);
  layout.columns_by.separator = announced != '\0' ? announced : csv_separator(lines);
  if (announced != '\0') lines.drop();
  return layout_of_labels(lines, spec, std::move(layout), true);
}

// No line without a TAB is the first one of a .tsv.
bool has_other_separator(std::string_view line) {
  return line.find('\t') == line.npos && line.find_first_of(",;") != line.npos;
}

}  // namespace

const TextFormat csv_format = {.recognises = has_other_separator,
                               .layout = csv_layout,
                               .parse = parse_labels,
                               .numbered = false,
                               .columns_by = {.separator = ',', .quotes = true}};

}  // namespace ztp
