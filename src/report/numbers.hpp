// Numbers in the data of a report, rounded to a few digits.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/json.hpp"

namespace ztp {

// For numbers that the page rounds as the command line does: with six digits the second rounding could differ.
constexpr int precise = 12;

// JSON has neither NaN nor infinity: null, and the text "inf".
inline Json number(double value, int digits = 6) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double rounded = std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e15) return static_cast<std::int64_t>(rounded);
  return rounded;
}

template <class Values>
Json numbers(const Values& values, int digits = 6) {
  Json result = Json::array();
  for (const auto value : values) result.push_back(number(static_cast<double>(value), digits));
  return result;
}

}  // namespace ztp
