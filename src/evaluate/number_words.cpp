#include "evaluate/number_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace ztp {
namespace {

constexpr double nothing = 1e-17;          // what is left of a zero by rounding
constexpr double least_percentage = 1e-5;  // 0.001 %: less has too many zeros to be read
constexpr double near = 10;                // times as large

// How many decimals two digits need.
int decimals(double percentage) {
  if (percentage >= 99.5 && percentage < 100) return percentage < 99.95 ? 1 : 2;
  return percentage >= 9.95 || percentage == 0 ? 0 : 1 - static_cast<int>(std::floor(std::log10(percentage * 1.005)));
}

// "1 in 98,000", "1 in 2.5".
std::string one_in(double share) {
  if (share < nothing) return "0";
  const double times = 1 / share;
  if (times < 9.95) return fmt::format("1 in {:.2g}", times);
  const double step = std::pow(10, std::floor(std::log10(times)) - 1);
  return fmt::format("1 in {}", grouped(static_cast<std::uint64_t>(std::round(times / step) * step)));
}

}  // namespace

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::vector<std::string> percents(const std::vector<double>& shares) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;  // of those that are not zero
  int most_decimals = 0;
  for (const double share : shares) {
    if (share < nothing) continue;
    smallest = std::min(smallest, share);
    largest = std::max(largest, share);
    most_decimals = std::max(most_decimals, decimals(100 * share));
  }
  std::vector<std::string> texts;
  for (const double share : shares) {
    const double percentage = share < nothing ? 0 : 100 * share;
    if (smallest < least_percentage)
      texts.push_back(one_in(share));
    else
      texts.push_back(fmt::format("{:.{}f}\u00a0%", percentage,
                                  percentage > 0 && largest < near * smallest ? most_decimals : decimals(percentage)));
  }
  return texts;
}

std::string percent(double share) {
  return percents({share}).front();
}

}  // namespace ztp
