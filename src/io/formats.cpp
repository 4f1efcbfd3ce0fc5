#include "io/formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "io/layout.hpp"
#include "ztp/read.hpp"

namespace ztp {
namespace {

// Without the ending of compression.
std::string plain_name(const std::string& path) {
  std::string name = to_lower(path);
  for (const std::string_view ending : {".gz", ".zst"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

const TextFormat* format_of_file_name(const std::string& path) {
  const std::string name = plain_name(path);
  for (std::size_t i = 0; i < std::size(text_formats); ++i)
    if (name.ends_with(fmt::format(".{}", choice_names<FileFormat>[i]))) return text_formats[i];
  return nullptr;
}

// The first line that is not empty, as far as it is among the first bytes.
std::string_view first_line(const LineBlocks& lines) {
  std::string_view text = lines.beginning();
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && std::string_view(" \t\r").find(text.back()) != text.npos) text.remove_suffix(1);
  return text;
}

const TextFormat* format_of_first_line(std::string_view line) {
  for (const TextFormat* format : text_formats)
    if (format->recognises != nullptr && format->recognises(line)) return format;
  return text_formats[0];
}

const TextFormat* find_format(const LineBlocks& lines, const std::string& path) {
  const TextFormat* format = path == "-" ? nullptr : format_of_file_name(path);
  const std::string_view line = first_line(lines);
  // A .tsv may be called .csv.
  const bool tabs = line.find('\t') != line.npos && line.find_first_of(",;") == line.npos;
  if (format == &csv_format && tabs) return &tsv_format;
  return format != nullptr ? format : format_of_first_line(line);
}

}  // namespace

FileFormat format_named(const std::string& name) {
  if (const auto format = choice_named<FileFormat>(name)) return *format;
  constexpr auto names = choice_names<FileFormat>;
  throw usage_error("--format {}: use {} or {}", name, fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

bool is_csv_name(const std::string& path) {
  return format_of_file_name(path) == &csv_format;
}

FileLayout read_layout(LineBlocks& lines, const TableSpec& spec) {
  const TextFormat* format = spec.format != nullptr ? spec.format : find_format(lines, spec.path);
  if (!format->has_index_base && spec.index_base != 1 && spec.fixed_modes.empty())
    throw usage_error("--index-base {}: {} is not a .tns file", spec.index_base, spec.path);
  if (format->numbered && spec.header)
    throw usage_error("{} is not used with {}, which is not a .tsv or .csv file",
                      *spec.header ? "--header" : "--no-header", spec.path);
  FileLayout layout = format->layout(lines, spec);
  layout.format = format;
  layout.uses_value =
      layout.has_value && (spec.values != ValueKind::none || !spec.optional_value || spec.fixed_modes.empty());
  return layout;
}

}  // namespace ztp
