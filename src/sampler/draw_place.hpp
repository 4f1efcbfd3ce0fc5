// A categorical draw from weights that are not normalized.
#pragma once
#include <cstddef>
#include <numeric>
#include <vector>

namespace ztp {

// An index drawn in proportion to the weights: none is negative, and at least one is positive.
inline std::size_t draw_place(const std::vector<double>& weights, double uniform) {
  double target = uniform * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t found = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    found = i;
    if (target < weights[i]) break;
    target -= weights[i];
  }
  return found;
}

}  // namespace ztp
