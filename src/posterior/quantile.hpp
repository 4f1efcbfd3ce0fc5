// Quantiles, and evenly spaced samples.
#pragma once
#include <cstddef>
#include <vector>

namespace ztp {

// `most` of the numbers 0..total-1, or all of them: the middles of equal parts.
std::vector<std::size_t> evenly_spaced(std::size_t total, std::size_t most);

// Quantile q of sorted values, interpolating linearly between order statistics.
double quantile(const float* sorted, std::size_t count, double q);

}  // namespace ztp
