#include "io/column_hints.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "io/first_rows.hpp"
#include "io/layout.hpp"
#include "io/lines.hpp"

namespace ztp {
namespace {

// What the labels of a mode are, all of them.
struct Numbers {
  bool all = true;        // numbers
  bool decimals = false;  // one of them is no integer
  bool all_years = true;  // from 1900 to 2100, so that a decimal may be a month: 2024.07
};

Numbers numbers_of(const LabelTable& labels) {
  Numbers found;
  std::string scratch;
  for (std::uint32_t j = 0; j < labels.size() && found.all; ++j) {
    const std::string label(labels.name(j, scratch));
    found.all = is_number(label);
    found.decimals |= label.find_first_of(".eE") != label.npos;
    const double value = std::strtod(label.c_str(), nullptr);
    found.all_years &= value >= 1900 && value < 2101;
  }
  return found;
}

}  // namespace

std::string value_column_hint(const ReadOptions& options, const std::vector<Mode>& modes) {
  const Mode& last = modes.back();
  if (options.values || options.counts || modes.size() < 3 || last.labels.is_numbered()) return "";
  const bool named = is_name_of_values(last.name), unnamed = last.name == fmt::format("mode{}", modes.size());
  if (!named && !unnamed) return "";
  const Numbers numbers = numbers_of(last.labels);
  if (!numbers.all || (unnamed && (!numbers.decimals || numbers.all_years))) return "";
  return fmt::format(
      "{}: the last column{} has only numbers, {} different ones, and is read as a mode; did you mean {}--values "
      "(any number but 0 is a one)?",
      options.file, named ? fmt::format(", {},", ztp::quoted(last.name)) : "", last.labels.size(),
      numbers.decimals ? "" : "--likelihood count (they are counts) or ");
}

}  // namespace ztp
