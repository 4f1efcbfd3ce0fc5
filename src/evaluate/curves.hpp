// Curves of test cells, and intervals of shares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ztp/metrics.hpp"

namespace ztp {

using Curve = std::vector<std::pair<double, double>>;

// False positive rate and true positive rate, from (0, 0) to (1, 1): a point for each probability that some cell has,
// or about `most` of them, no two closer than need be. Empty without ones or without zeros.
Curve roc_curve(MetricsCollector& cells, std::size_t most);
// Recall and precision, from recall 0 to 1, in the same way; at each recall the best precision. Empty without ones.
Curve precision_curve(MetricsCollector& cells, std::size_t most);

// The 90 % interval of Wilson (1927) for the share of ones in what these are a sample of: 5 % beyond each end.
std::pair<double, double> wilson_interval(std::uint64_t ones, std::uint64_t cells);

}  // namespace ztp
