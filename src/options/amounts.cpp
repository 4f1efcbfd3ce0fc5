#include "options/amounts.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "ztp/error.hpp"

namespace ztp {
namespace {

// The number at the beginning of a text, and the rest of the text. NaN, if there is no number.
double leading_number(std::string_view text, std::string_view& rest) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : std::numeric_limits<double>::quiet_NaN();
}

constexpr double usual_zeros_per_one = 10;

}  // namespace

CheckpointInterval checkpoint_interval(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit);
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (unit.empty() && value >= 1 && value <= 4294967295.0 && value == std::floor(value))
    return {static_cast<std::uint32_t>(value), 0};
  if (seconds > 0 && value > 0 && value * seconds <= 1e9) return {0, value * seconds};
  throw Error(ErrorKind::config,
              fmt::format("--checkpoint {}: must be a number of sweeps, as 50, or a time, as 30s, 10m or 2h", text));
}

double memory_limit(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit);
  double factor = 1;
  if (!unit.empty()) {
    const std::size_t power = std::string_view("KMGT").find(static_cast<char>(unit[0] & ~0x20));
    if (power != std::string_view::npos) {
      factor = std::pow(1024.0, static_cast<double>(power + 1));
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
    if (unit == "B" || unit == "b") unit = {};
  }
  if (!unit.empty() || !(value > 0) || !(value * factor < 1e18))
    throw Error(ErrorKind::config, fmt::format("--memory {}: must be a size, as 8G, 500M or 2000000000", text));
  return value * factor;
}

double zeros_per_one_of(const std::string& choice) {
  double each = usual_zeros_per_one;
  if (choice == "all" || choice == "auto") return each;
  const auto [end, error] = std::from_chars(choice.data(), choice.data() + choice.size(), each);
  if (error != std::errc() || end != choice.data() + choice.size() || !(each > 0 && each <= 1e9))
    throw Error(ErrorKind::config,
                fmt::format("--zeros {}: must be auto, all, or a number of zeros for each one", choice));
  return each;
}

}  // namespace ztp
