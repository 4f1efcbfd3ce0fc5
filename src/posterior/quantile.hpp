// Quantiles, and evenly spaced samples.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace ztp {

// `most` of the numbers 0..total-1, or all of them: the middles of equal parts.
inline std::vector<std::size_t> evenly_spaced(std::size_t total, std::size_t most) {
  std::vector<std::size_t> picks(std::min(total, most));
  for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = (2 * i + 1) * total / (2 * picks.size());
  return picks;
}

// Quantile q of sorted values, interpolating linearly between order statistics.
inline double quantile(const float* sorted, std::size_t count, double q) {
  const double position = q * static_cast<double>(count - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, count - 1);
  const double weight = position - static_cast<double>(below);
  return (1 - weight) * static_cast<double>(sorted[below]) + weight * static_cast<double>(sorted[above]);
}

}  // namespace ztp
