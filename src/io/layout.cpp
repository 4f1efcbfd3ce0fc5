#include "io/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/errors.hpp"
#include "io/formats.hpp"

namespace ztp {

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string mode_name(const TableSpec& spec, std::size_t mode) {
  return mode < spec.fixed_modes.size() ? spec.fixed_modes[mode]->name : fmt::format("mode{}", mode + 1);
}

Error no_data_error(const std::string& file) {
  return input_error("{}: no data; the file has no line with a cell", file);
}

namespace {

// Calls use(field) until it says false.
template <class Use>
void for_fields(std::string_view line, const TextFormat& format, const Use& use) {
  const char* separators = format.tabs ? "\t" : " \t\r";
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
    const bool is_field = format.tabs || end > begin;
    if (is_field && !use(Field{line.substr(begin, end - begin), begin + 1})) return;
    begin = end + 1;
  }
}

}  // namespace

std::vector<Field> split_fields(std::string_view line, const TextFormat& format) {
  std::vector<Field> fields;
  for_fields(line, format, [&](const Field& field) {
    fields.push_back(field);
    return fields.size() < max_fields;
  });
  return fields;
}

std::size_t count_fields(std::string_view line, const TextFormat& format) {
  std::size_t count = 0;
  for_fields(line, format, [&](const Field&) { return ++count > 0; });
  return count;
}

BadLine wrong_column_count(std::uint64_t line, std::string_view text, std::size_t fewest, std::size_t most,
                           const TextFormat& format) {
  // The first field too many, or the place of the first that is missing.
  std::size_t count = 0, column = text.size() + 1;
  for_fields(text, format, [&](const Field& field) {
    if (count++ == most) column = field.column;
    return true;
  });
  const std::string expected = most > fewest ? fmt::format("{} or {} columns", fewest, most) : plural(fewest, "column");
  std::string what =
      fmt::format("expected {} separated by {}, found {}; ", expected, format.tabs ? "TAB" : "spaces", count);
  if (format.tabs && text.starts_with('#') && count < fewest)
    what += "only the first line may begin with #, and names the columns: there are no comments";
  else if (format.tabs && text.find('\t') == text.npos && text.find(' ') != text.npos)
    what += "the line has spaces but no TAB: put a TAB between columns";
  else
    what += format.ragged_remedy;
  return {line, column, what};
}

}  // namespace ztp
