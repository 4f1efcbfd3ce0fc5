// Hyperparameters that are learned: each is drawn right after the counts, with the parameters that depend on it
// integrated out, and before those are drawn again (docs/model.md, section 5). Drawn after them it would be wrong.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/weight_prior.hpp"

namespace ztp {

// Priors: log a ~ Normal(log median, sd), and likewise g and f.                                               (M19)
inline constexpr double log_prior_sd = 1.5;

// The counts S of a mode.
struct ColumnCounts {
  double n;                                                      // its entities
  std::span<const std::pair<std::int64_t, std::int64_t>> tally;  // how often each positive value occurs in S
  std::span<const std::int64_t> totals;                          // S_r
};

// A new a given the counts S, u integrated out. O(distinct values + R) for each of about ten evaluations.       (M20)
double draw_dirichlet_parameter(Stream& stream, double a, double median, const ColumnCounts& counts);

// A new g given the totals s_r of all components, lambda and p integrated out.                                 (M21)
// prior.shape is the median of its prior. O(R) for each evaluation.
double draw_gamma_shape(Stream& stream, double g, const WeightPrior& prior, std::span<const std::int64_t> totals);

}  // namespace ztp
