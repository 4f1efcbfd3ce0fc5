#include "report/words.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ztp {

std::string grouped(std::uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string percent(double share) {
  const double value = 100 * share;
  if (value >= 99.5 && value < 100) return fmt::format("{:.{}f} %", value, value < 99.95 ? 1 : 2);
  if (value >= 9.95) return fmt::format("{:.0f} %", value);
  if (value >= 0.01 || !(value > 1e-15)) return fmt::format("{:.2g} %", value);
  const double step = std::pow(10, std::floor(std::log10(1 / share)) - 1);  // two digits
  return fmt::format("1 in {}", grouped(static_cast<std::uint64_t>(std::round(1 / share / step) * step)));
}

}  // namespace ztp
