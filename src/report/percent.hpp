// Shares in sentences.
#pragma once
#include <fmt/format.h>

#include <string>

namespace ztp {

// "28 %", "1.5 %", "0.0031 %".
inline std::string percent(double share) {
  const double value = 100 * share;
  if (value >= 99.5 && value < 100) return fmt::format("{:.{}f} %", value, value < 99.95 ? 1 : 2);
  return value >= 9.95 ? fmt::format("{:.0f} %", value) : fmt::format("{:.2g} %", value);
}

}  // namespace ztp
