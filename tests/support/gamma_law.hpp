// Do logs of gamma draws, as floats hold them, follow their law? As p-values.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "laws.hpp"
#include "statistics.hpp"

namespace ztp::test {

// Below this log the draw may have left the range of floats.
inline constexpr double lowest_log = -80;

// P(log G <= x), without the long doubles that make it slow.
double gamma_below(double shape, double x);

// Kolmogorov and Smirnov's distance over what floats hold; the rest is counted on its side, and the distance can only
// come out smaller. A float stands for all that is rounded to it: for a shape of 1e8 floats are thousandths of a
// standard deviation apart, and there are many equal ones. So the law is asked half way between one value and the next.
inline double gamma_distance_p(const std::vector<double>& logs, double shape) {
  const std::size_t stride = 300;  // the law is costly
  const double n = static_cast<double>(logs.size());
  double distance = 0;
  for (std::size_t start = 0; start + 1 < logs.size(); start += stride) {
    const auto next = std::upper_bound(logs.begin() + static_cast<std::ptrdiff_t>(start), logs.end(), logs[start]);
    if (next == logs.end() || logs[start] < lowest_log) continue;
    const double below = gamma_below(shape, (logs[start] + *next) / 2);
    distance = std::max(distance, std::abs(below - static_cast<double>(next - logs.begin()) / n));
  }
  return kolmogorov_p(distance, n);
}

// The lower tail by its logs: a cell for each unit from the lowest up to `highest`, and one for everything above.
inline double gamma_tail_p(const std::vector<double>& logs, double shape, double highest) {
  std::vector<double> expected, observed;
  double before = 0, seen = 0;
  const double n = static_cast<double>(logs.size());
  const auto add = [&](double below, double held) {
    expected.push_back(n * below - before);
    observed.push_back(held - seen);
    before = n * below;
    seen = held;
  };
  for (double end = lowest_log; end <= highest; end += 1)
    add(log_gamma_law(shape, end).below,
        static_cast<double>(std::lower_bound(logs.begin(), logs.end(), end) - logs.begin()));
  add(1, n);
  return chi_squared_p(expected, observed);
}

}  // namespace ztp::test
