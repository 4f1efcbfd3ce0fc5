#include "evaluate/curves.hpp"

#include <algorithm>
#include <cmath>

namespace ztp {
namespace {

struct Totals {
  double ones = 0, zeros = 0;
};

Totals count(MetricsCollector& cells) {
  Totals all;
  cells.for_ties([&](double, std::uint64_t ones, std::uint64_t zeros) {
    all.ones += static_cast<double>(ones);
    all.zeros += static_cast<double>(zeros);
  });
  return all;
}

// Calls use(called) for each threshold, from the lowest up: what is called a one, by what it is.
template <class Use>
void for_thresholds(MetricsCollector& cells, const Totals& all, Use use) {
  Totals called = all;
  cells.for_ties([&](double, std::uint64_t ones, std::uint64_t zeros) {
    use(called);
    called.ones -= static_cast<double>(ones);
    called.zeros -= static_cast<double>(zeros);
  });
}

}  // namespace

Curve roc_curve(MetricsCollector& cells, std::size_t most) {
  const Totals all = count(cells);
  Curve curve;
  if (all.ones == 0 || all.zeros == 0) return curve;
  // The way from one end to the other is 2 long in steps along the axes.
  const double step = 2 / (static_cast<double>(most) - 2);
  for_thresholds(cells, all, [&](const Totals& called) {
    const std::pair<double, double> point(called.zeros / all.zeros, called.ones / all.ones);
    const auto& last = curve.empty() ? point : curve.back();
    if (curve.empty() || last.first - point.first + last.second - point.second >= step) curve.push_back(point);
  });
  curve.emplace_back(0, 0);
  std::reverse(curve.begin(), curve.end());
  return curve;
}

Curve precision_curve(MetricsCollector& cells, std::size_t most) {
  const Totals all = count(cells);
  Curve curve;
  if (all.ones == 0) return curve;
  const double step = 1 / (static_cast<double>(most) - 4);
  const auto add = [&](const std::pair<double, double>& point) {
    if (curve.empty() || curve.back() != point) curve.push_back(point);
  };
  std::pair<double, double> before;
  for_thresholds(cells, all, [&](const Totals& called) {
    const std::pair<double, double> point(called.ones / all.ones, called.ones / (called.ones + called.zeros));
    // The last threshold of a recall has its best precision.
    const bool last_of_recall = !curve.empty() && point.first < before.first;
    if (curve.empty()) add(point);
    if (last_of_recall && (before.first == 1 || curve.back().first - before.first >= step)) add(before);
    before = point;
  });
  add(before);
  add({0, before.second});
  std::reverse(curve.begin(), curve.end());
  return curve;
}

std::pair<double, double> wilson_interval(std::uint64_t ones, std::uint64_t cells) {
  if (cells == 0) return {0, 1};
  constexpr double z = 1.6448536269514722;
  const double n = static_cast<double>(cells), share = static_cast<double>(ones) / n;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {ones == 0 ? 0 : std::max(0.0, middle - half), ones == cells ? 1 : std::min(1.0, middle + half)};
}

}  // namespace ztp
