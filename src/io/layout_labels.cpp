// Files of labels. Their first line may name the modes.
#include "io/layout_labels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/flags.hpp"
#include "io/formats.hpp"
#include "io/parse.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

struct Header {
  std::vector<Field> names;
  std::uint64_t line = 0;  // 0: there is none
  bool marked = false;     // it begins with #
};

// A file with a header is laid out by these.
class LabelLayout {
 public:
  LabelLayout(LineBlocks& lines, const TableSpec& spec, FileLayout layout, bool usual_header)
      : lines_(lines), spec_(spec), layout_(std::move(layout)), usual_header_(usual_header) {}
  FileLayout make();

 private:
  bool tabs() const { return layout_.columns_by.separator == '\t'; }
  bool first_is_header(std::string_view line);
  bool fixed_header(const std::vector<Row>& rows);
  bool discovered_header(const std::vector<Row>& rows);
  void take_header(std::string_view line);
  void check_header_names() const;
  void check_header_is_no_cell(const LabelTable& labels) const;
  void check_order(std::uint64_t line, std::string_view text) const;
  void check_header_width(std::uint64_t line, std::string_view text) const;
  void check_value_of_first_line(std::uint64_t line, std::string_view text) const;
  void name_modes();
  void discover_columns(std::uint64_t line, std::string_view text);
  void match_fixed_columns(std::uint64_t line, std::string_view text);
  std::vector<std::string> fixed_names() const {
    std::vector<std::string> names;
    for (const Mode* mode : spec_.fixed_modes) names.push_back(mode->name);
    return names;
  }

  LineBlocks& lines_;
  const TableSpec& spec_;
  FileLayout layout_;
  bool usual_header_;
  Header header_;
};

// Of a file over known modes. A header names its columns as the modes are called; or else none of its labels is known,
// and one of them is the name of a mode, or it looks like a header for itself.
bool LabelLayout::fixed_header(const std::vector<Row>& rows) {
  const Row& first = rows[0];
  const std::vector<const Mode*>& modes = spec_.fixed_modes;
  const std::size_t K = std::min(first.size(), modes.size());
  std::size_t known = 0, named = 0, names = 0;
  for (std::size_t k = 0; k < K; ++k) {
    const auto is_first = [&](const Mode* mode) { return to_lower(mode->name) == to_lower(first[k]); };
    known += modes[k]->labels.find(first[k]).has_value();
    named += is_first(modes[k]);
    names += std::any_of(modes.begin(), modes.end(), is_first);
  }
  if (named == K && known < K) return true;
  if (known > 0) return false;
  const FirstRow found = examine_first_row(rows);
  const bool lists_cells = spec_.header_names_modes;
  if (names == 0 && !found.looks_like_header() && !(usual_header_ && !lists_cells && found.may_be_header()))
    return false;
  if (!lists_cells)
    layout_.note = fmt::format("line {} is taken as a header: {}", lines_.dropped() + 1, fmt::join(first, ", "));
  return true;
}

// Of a file that tells the modes. Sets a warning, if the line should perhaps be a header and is not taken as one.
bool LabelLayout::discovered_header(const std::vector<Row>& rows) {
  const FirstRow found = examine_first_row(rows);
  const std::uint64_t line = lines_.dropped() + 1;
  const std::string labels = fmt::format("{}", fmt::join(rows[0], ", "));
  const auto known = [&](const std::string& label) { return spec_.known->find(label).has_value(); };
  if (spec_.known != nullptr && std::any_of(rows[0].begin(), rows[0].end(), known)) return false;
  if (!usual_header_) {
    if (found.looks_like_header())
      layout_.warning =
          fmt::format("line {} looks like a header (use --header) but is read as a cell: {}", line, labels);
    return false;
  }
  const bool header = found.may_be_header();
  layout_.note = header
                     ? fmt::format("line {} is taken as a header: {} (--no-header if it is a cell)", line, labels)
                     : fmt::format("line {} is taken as a cell: {} (--header if it names the columns)", line, labels);
  return header;
}

bool LabelLayout::first_is_header(std::string_view line) {
  header_.marked = line.starts_with('#');
  if (spec_.header) return *spec_.header;
  if (header_.marked) return true;
  const std::vector<Row> rows = first_rows(lines_, layout_.columns_by);
  if (rows.empty()) return false;
  return spec_.fixed_modes.empty() ? discovered_header(rows) : fixed_header(rows);
}

void LabelLayout::take_header(std::string_view line) {
  header_.line = lines_.dropped() + 1;
  std::string text(line);
  if (header_.marked) text[0] = ' ';
  header_.names = split_fields(text, layout_.columns_by, header_.line);
  for (Field& name : header_.names) {
    const bool trims = !tabs() || (header_.marked && &name == &header_.names[0]);  // "# user" means "#user"
    if (!trims) continue;
    const std::size_t blanks = std::min(name.text.find_first_not_of(' '), name.text.size());
    name.text.erase(0, blanks);
    name.column += blanks;
    while (!tabs() && name.text.ends_with(' ')) name.text.pop_back();
  }
  lines_.drop();
  while (lines_.peek(line) && line.empty()) lines_.drop();
  layout_.header = true;
}

// Columns in another order would be read without a complaint, and so would a first cell whose label begins with #.
void LabelLayout::check_header_names() const {
  const std::vector<std::string> modes = fixed_names();
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (header_.names[k].text != modes[k])
      throw BadLine{
          header_.line, header_.names[k].column,
          fmt::format("the header has {} where {} is expected; the first line{} must name the modes in order: {}{}",
                      ztp::quoted(header_.names[k].text), ztp::quoted(modes[k]),
                      header_.marked ? ", if it begins with #," : ", if it is a header,", header_.marked ? "#" : "",
                      fmt::join(modes, tabs() ? " TAB " : std::string(1, layout_.columns_by.separator)))};
}

void LabelLayout::check_header_is_no_cell(const LabelTable& labels) const {
  const std::string first = fmt::format("#{}", header_.names[0].text);
  if (!header_.marked || !labels.find(first)) return;
  throw BadLine{header_.line, 1,
                fmt::format("the first line begins with #, so it is read as a header, but {} is also an entity; put a "
                            "header line above it",
                            ztp::quoted(first))};
}

void LabelLayout::check_order(std::uint64_t line, std::string_view text) const {
  if (layout_.order >= 2 && layout_.order <= max_modes) return;
  std::string what = plural(layout_.order, "column") + " of labels";
  if (spec_.values != ValueKind::none) what += " beside the value column";
  what += fmt::format(", but a tensor has 2 to {} modes; ", max_modes);
  if (layout_.order > max_modes)
    what += "remove columns";
  else if (spec_.values != ValueKind::none)
    what +=
        fmt::format("separate columns by {}, or leave out --values or --likelihood count if the last column is a label",
                    separator_name(layout_.columns_by.separator));
  else if (tabs() && text.find('\t') == text.npos && text.find_first_of(",;") != text.npos)
    what += "separate columns by TAB, or use --format csv if they are separated by commas or semicolons";
  else
    what += fmt::format("separate columns by {}", separator_name(layout_.columns_by.separator));
  throw BadLine{line, 1, what};
}

// The header and the first line of data must agree; a value column may be named or not.
void LabelLayout::check_header_width(std::uint64_t line, std::string_view text) const {
  const std::size_t names = header_.names.size(), labels = layout_.order;
  const bool value = layout_.has_value;
  if (header_.line == 0 || names == labels || (value && names == labels + 1)) return;
  BadLine bad = wrong_column_count(line, text, names, names + (value ? 1 : 0), layout_.columns_by);
  bad.what += fmt::format(" (the header in line {} names {})", header_.line, names);
  if (names == 1 && header_.marked)
    bad.what +=
        fmt::format("; a first line that begins with # must name the columns, separated by {}: it is not a comment",
                    separator_name(layout_.columns_by.separator));
  else if (!value && labels == names + 1)
    bad.what += "; if the last column is a value, add --values";
  throw bad;
}

// A header would be refused for its value, which is no number.
void LabelLayout::check_value_of_first_line(std::uint64_t line, std::string_view text) const {
  if (layout_.warning.empty() || !layout_.has_value) return;
  const Field value = split_fields(text, layout_.columns_by, line).back();
  if (is_number(value.text)) return;
  throw BadLine{line, value.column,
                fmt::format("the value {} is not a number, and the line looks like a header; use --header if it is one",
                            ztp::quoted(value.text))};
}

void LabelLayout::name_modes() {
  for (std::size_t k = 0; k < layout_.order && header_.line != 0 && spec_.known == nullptr; ++k) {
    const Field& name = header_.names[k];
    std::string wrong = mode_name_problem(name.text, layout_.names);
    if (name.text.empty() && k == 0 && !header_.marked)
      wrong += "; if the column is only an index, leave it out (pandas: to_csv(..., index=False))";
    if (!wrong.empty()) throw BadLine{name.line, name.column, wrong};
    layout_.names.push_back(name.text);
  }
}

void LabelLayout::discover_columns(std::uint64_t line, std::string_view text) {
  layout_.order = layout_.columns - (layout_.has_value ? 1 : 0);
  check_header_width(line, text);
  check_order(line, text);
  check_value_of_first_line(line, text);
  if (header_.line != 0 && spec_.known != nullptr) check_header_is_no_cell(*spec_.known);
  name_modes();
}

void LabelLayout::match_fixed_columns(std::uint64_t line, std::string_view text) {
  layout_.order = spec_.fixed_modes.size();
  if (spec_.optional_value) layout_.has_value = layout_.columns == layout_.order + 1;
  const std::size_t expected = layout_.order + (layout_.has_value ? 1 : 0);
  if (layout_.columns != expected) {
    BadLine bad =
        wrong_column_count(line, text, expected, expected + (spec_.optional_value ? 1 : 0), layout_.columns_by);
    bad.what += fmt::format(": {}{}", fmt::join(fixed_names(), ", "),
                            layout_.has_value      ? ", and 0 or 1"
                            : spec_.optional_value ? ", and optionally 0 or 1"
                                                   : "");
    throw bad;
  }
  check_header_width(line, text);
  if (header_.line == 0) return;
  if (spec_.header_names_modes)
    check_header_names();
  else
    check_header_is_no_cell(spec_.fixed_modes[0]->labels);
}

FileLayout LabelLayout::make() {
  std::string_view text;
  while (lines_.peek(text) && text.empty()) lines_.drop();
  if (lines_.peek(text) && first_is_header(text)) take_header(text);
  if (!lines_.peek(text)) {
    if (layout_.note.empty()) throw no_data_error(lines_.name());
    throw Error(ErrorKind::input,
                fmt::format("{}: no cells: {}; write one cell per line", lines_.name(), layout_.note));
  }
  const std::uint64_t line = lines_.dropped() + 1;
  layout_.columns = count_fields(text, layout_.columns_by, line);
  layout_.has_value = spec_.values != ValueKind::none;
  if (spec_.fixed_modes.empty())
    discover_columns(line, text);
  else
    match_fixed_columns(line, text);
  for (std::size_t k = layout_.names.size(); k < layout_.order; ++k) layout_.names.push_back(mode_name(spec_, k));
  return std::move(layout_);
}

FileLayout tsv_layout(LineBlocks& lines, const TableSpec& spec) {
  FileLayout layout;
  layout.columns_by = tsv_format.columns_by;
  return layout_of_labels(lines, spec, std::move(layout), false);
}

}  // namespace

FileLayout layout_of_labels(LineBlocks& lines, const TableSpec& spec, FileLayout layout, bool usual_header) {
  return LabelLayout(lines, spec, std::move(layout), usual_header).make();
}

const TextFormat tsv_format = {
    .layout = tsv_layout, .parse = parse_labels, .numbered = false, .columns_by = {.separator = '\t'}};

}  // namespace ztp
