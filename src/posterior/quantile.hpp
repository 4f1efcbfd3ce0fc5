// Order statistics of draws, and draws that stand for all.
#pragma once
#include <cstddef>
#include <vector>

namespace ztp {

// `most` of 0..total-1, or all if there are no more: the middles of equal parts.
std::vector<std::size_t> spread(std::size_t total, std::size_t most);

// Quantile q of sorted values, interpolating linearly between order statistics.
double quantile(const float* sorted, std::size_t count, double q);

}  // namespace ztp
