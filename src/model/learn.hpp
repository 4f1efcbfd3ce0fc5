// Hyperparameters that are learned: each is drawn right after the counts, with the parameters that depend on it integrated out,
// and before those are drawn again (docs/model.md, section 5). Drawn after them it would be wrong.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/state.hpp"

namespace ztp {

// Priors: log a ~ Normal(log median, sd), and likewise g and f.                                               (M19)
inline constexpr double log_prior_sd = 1.5;

// A new a given the counts S of a mode with n entities, u integrated out.                                      (M20)
// `tally`: how often each positive value occurs in S; `totals`: S_r. O(distinct values + R) for each of about ten evaluations.
double draw_dirichlet_parameter(Stream& stream, double a, double median, double n,
                                std::span<const std::pair<std::int64_t, std::int64_t>> tally,
                                std::span<const std::int64_t> totals);

// A new g given the totals s_r of all components, lambda and p integrated out.                                 (M21)
// prior.shape is the median of its prior. O(R) for each evaluation.
double draw_gamma_shape(Stream& stream, double g, const WeightPrior& prior, std::span<const std::int64_t> totals);

}  // namespace ztp
