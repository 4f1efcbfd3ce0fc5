#include "io/formats.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "io/layout.hpp"
#include "ztp/read.hpp"

namespace ztp {
namespace {

const TextFormat* format_of_file_name(const std::string& path) {
  std::string name = to_lower(path);
  if (name.ends_with(".gz"))
    name.resize(name.size() - 3);
  else if (name.ends_with(".zst"))
    name.resize(name.size() - 4);
  for (std::size_t i = 0; i < std::size(text_formats); ++i)
    if (name.ends_with(fmt::format(".{}", choice_names<FileFormat>[i]))) return text_formats[i];
  return nullptr;
}

const TextFormat* format_of_first_line(LineBlocks& lines) {
  std::string_view line;
  while (lines.peek(line) && line.empty()) lines.drop();
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  for (const TextFormat* format : text_formats)
    if (format->recognises != nullptr && format->recognises(line)) return format;
  return text_formats[0];
}

}  // namespace

FileFormat format_named(const std::string& name) {
  if (const auto format = choice_named<FileFormat>(name)) return *format;
  constexpr auto names = choice_names<FileFormat>;
  throw usage_error("--format {}: use {} or {}", name, fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

FileLayout read_layout(LineBlocks& lines, const TableSpec& spec) {
  const TextFormat* format = spec.format;
  if (format == nullptr && spec.path != "-") format = format_of_file_name(spec.path);
  if (format == nullptr) format = format_of_first_line(lines);
  if (!format->has_index_base && spec.index_base != 1 && spec.fixed_modes.empty())
    throw usage_error("--index-base {}: {} is not a .tns file", spec.index_base, spec.path);
  FileLayout layout = format->layout(lines, spec);
  layout.format = format;
  layout.uses_value =
      layout.has_value && (spec.values != ValueKind::none || !spec.optional_value || spec.fixed_modes.empty());
  return layout;
}

}  // namespace ztp
