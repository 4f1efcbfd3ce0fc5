// The starts of files whose cells are numbers: FROSTT .tns, Tensor Toolbox sptensor, Matrix Market.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/errors.hpp"
#include "io/formats.hpp"
#include "io/layout.hpp"
#include "io/parse.hpp"

namespace ztp {
namespace {

// The next line that is neither empty nor a comment; false at the end of the file.
bool peek_content(LineBlocks& lines, char comment, std::vector<Field>& fields, std::string_view& line) {
  while (lines.peek(line)) {
    fields = split_fields(line, tns_format.columns_by, lines.dropped() + 1);
    if (!fields.empty() && fields[0].text[0] != comment) return true;
    lines.drop();
  }
  return false;
}

std::uint64_t header_number(const Field& field, std::uint64_t line, const char* what, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t number = 0;
  const char* end = field.text.data() + field.text.size();
  const auto [stop, error] = std::from_chars(field.text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most)
    throw BadLine{line, field.column,
                  fmt::format("{} {} is not an integer from {} to {}; correct the header", what,
                              ztp::quoted(field.text), least, most)};
  return number;
}

constexpr std::uint64_t most_cells = 1ull << 62;

// One line of the sptensor header.
std::vector<Field> header_line(LineBlocks& lines, std::size_t count, const char* what) {
  std::vector<Field> fields;
  std::string_view line;
  if (!peek_content(lines, '#', fields, line))
    throw BadLine{lines.dropped(), 1, fmt::format("the sptensor header ends before {}; complete it", what)};
  if (fields.size() != count)
    throw BadLine{lines.dropped() + 1, 1,
                  fmt::format("the sptensor header has {} where {} is expected ({}); correct it",
                              plural(fields.size(), "number"), what, count)};
  return fields;
}

void read_sptensor_header(LineBlocks& lines, FileLayout& layout) {
  layout.base = 1;
  const Field order = header_line(lines, 1, "the number of modes")[0];
  layout.order = header_number(order, lines.dropped() + 1, "the number of modes", 2, max_modes);
  lines.drop();
  for (const Field& size : header_line(lines, layout.order, "one size for each mode"))
    layout.sizes.push_back(header_number(size, lines.dropped() + 1, "the size", 1, max_mode_size));
  lines.drop();
  const Field cells = header_line(lines, 1, "the number of entries")[0];
  layout.cells = header_number(cells, lines.dropped() + 1, "the number of entries", 0, most_cells);
  layout.cells_line = lines.dropped() + 1;
  layout.cells_column = cells.column;
  lines.drop();
}

// Column counts from the first line of data.
void check_tns_columns(std::string_view text, std::uint64_t line, const TableSpec& spec, FileLayout& layout) {
  layout.columns = count_fields(text, tns_format.columns_by, line);
  const bool either = spec.optional_value && !spec.fixed_modes.empty();
  if (!spec.fixed_modes.empty() && layout.order == 0) layout.order = spec.fixed_modes.size();
  if (layout.order == 0) {
    layout.order = layout.columns - 1;
    if (layout.order < 2 || layout.order > max_modes)
      throw BadLine{line, 1,
                    fmt::format("{}, but a .tns line is 2 to {} indices and a value; is this a .tns file?",
                                plural(layout.columns, "column"), max_modes)};
  }
  layout.has_value = !either || layout.columns == layout.order + 1;
  if (layout.columns != layout.order + (layout.has_value ? 1 : 0))
    throw wrong_column_count(line, text, layout.order + (either ? 0 : 1), layout.order + 1, tns_format.columns_by);
}

void check_fixed_order(const TableSpec& spec, const FileLayout& layout, std::uint64_t line) {
  if (!spec.fixed_modes.empty() && spec.fixed_modes.size() != layout.order)
    throw BadLine{line, 1,
                  fmt::format("the file has {} modes, but {} are expected; give a file with the modes of the model",
                              layout.order, spec.fixed_modes.size())};
}

void set_names(const TableSpec& spec, FileLayout& layout) {
  for (std::size_t k = 0; k < layout.order; ++k) layout.names.push_back(mode_name(spec, k));
}

// The banner: %%MatrixMarket matrix coordinate FIELD SYMMETRY.
void read_mtx_banner(const std::vector<Field>& words, std::uint64_t line, const TableSpec& spec, FileLayout& layout) {
  const auto word = [&](std::size_t i) { return to_lower(words[i].text); };
  const auto refuse = [&](std::size_t i, const char* what) {
    throw BadLine{line, words[i].column, fmt::format("{} {}", ztp::quoted(words[i].text), what)};
  };
  if (words.size() != 5 || word(0) != "%%matrixmarket" || word(1) != "matrix")
    throw BadLine{
        line, 1,
        "not a Matrix Market file; its first line must be \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\""};
  if (word(2) != "coordinate") refuse(2, "storage is not supported; write the matrix as \"coordinate\"");
  const std::string field = word(3);
  if (field != "pattern" && field != "integer" && field != "real")
    refuse(3, "values are not supported; use \"pattern\", \"integer\" or \"real\"");
  const std::string symmetry = word(4);
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    refuse(4, "symmetry is not supported; use \"general\", \"symmetric\" or \"skew-symmetric\"");
  if (symmetry == "skew-symmetric" && spec.values != ValueKind::none && spec.values != ValueKind::nonzero)
    refuse(4, "means negative values, but counts and 0/1 cells cannot be negative; use \"general\" or \"symmetric\"");
  layout.has_value = field != "pattern";
  layout.mirrored = symmetry != "general";
}

FileLayout tns_layout(LineBlocks& lines, const TableSpec& spec) {
  FileLayout layout;
  layout.comment = '#';
  layout.columns_by = tns_format.columns_by;
  layout.base = spec.index_base;
  std::vector<Field> fields;
  std::string_view line;
  if (!peek_content(lines, '#', fields, line)) throw no_data_error(lines.name());
  if (fields.size() == 1 && fields[0].text == "sptensor") {
    if (spec.index_base != 1 && spec.fixed_modes.empty())
      throw usage_error("--index-base {}: {} is an sptensor file, whose indices start at 1", spec.index_base,
                        lines.name());
    lines.drop();
    read_sptensor_header(lines, layout);
    check_fixed_order(spec, layout, 1);
    if (!peek_content(lines, '#', fields, line)) throw no_data_error(lines.name());
  }
  check_tns_columns(line, lines.dropped() + 1, spec, layout);
  set_names(spec, layout);
  return layout;
}

FileLayout mtx_layout(LineBlocks& lines, const TableSpec& spec) {
  FileLayout layout;
  layout.comment = '%';
  layout.columns_by = mtx_format.columns_by;
  layout.order = 2;
  std::string_view line;
  while (lines.peek(line) && line.empty()) lines.drop();
  if (!lines.peek(line)) throw no_data_error(lines.name());
  read_mtx_banner(split_fields(line, mtx_format.columns_by, lines.dropped() + 1), lines.dropped() + 1, spec, layout);
  check_fixed_order(spec, layout, lines.dropped() + 1);
  layout.columns = layout.has_value ? 3 : 2;
  lines.drop();
  std::vector<Field> fields;
  if (!peek_content(lines, '%', fields, line)) throw no_data_error(lines.name());
  layout.cells_line = lines.dropped() + 1;
  if (fields.size() != 3)
    throw BadLine{layout.cells_line, 1,
                  fmt::format("{} where the sizes \"ROWS COLUMNS ENTRIES\" are expected; correct the header",
                              plural(fields.size(), "column"))};
  for (std::size_t k = 0; k < 2; ++k)
    layout.sizes.push_back(header_number(fields[k], layout.cells_line, "the size", 1, max_mode_size));
  layout.cells = header_number(fields[2], layout.cells_line, "the number of entries", 0, most_cells);
  layout.cells_column = fields[2].column;
  if (layout.mirrored && layout.sizes[0] != layout.sizes[1])
    throw BadLine{layout.cells_line, fields[1].column,
                  fmt::format("a symmetric matrix of {} rows and {} columns; it must be square", layout.sizes[0],
                              layout.sizes[1])};
  lines.drop();
  set_names(spec, layout);
  return layout;
}

}  // namespace

const TextFormat tns_format = {.recognises = [](std::string_view line) { return line == "sptensor"; },
                               .layout = tns_layout,
                               .parse = parse_indices,
                               .has_index_base = true};

const TextFormat mtx_format = {
    .recognises = [](std::string_view line) { return to_lower(line.substr(0, 14)) == "%%matrixmarket"; },
    .layout = mtx_layout,
    .parse = parse_indices,
    .columns_by = {.separator = ' ', .ragged_remedy = "every line must have the columns that the header announces"}};

}  // namespace ztp
