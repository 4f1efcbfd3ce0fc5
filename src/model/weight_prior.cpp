#include "model/weight_prior.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"
#include "ztp/options.hpp"

namespace ztp {

WeightPriors weight_priors(const FitOptions& complete) {
  return {{complete.gamma_shape, complete.beta_concentration, complete.beta_mean, shares_columns(complete)},
          {complete.network_gamma_shape, complete.network_beta_concentration, complete.network_beta_mean}};
}

void complete_weight_priors(FitOptions& options, std::size_t network_columns) {
  if (options.beta_mean < 0)
    options.beta_mean = shares_columns(options) ? 0.5 : std::min(0.5, 1 / static_cast<double>(options.rank));
  const double mean = std::min(0.5, 1 / static_cast<double>(network_columns));
  if (options.network_beta_mean < 0) options.network_beta_mean = mean;
}

namespace {

double sum(std::span<const std::int64_t> totals) {
  double result = 0;
  for (const std::int64_t total : totals) result += static_cast<double>(total);
  return result;
}

}  // namespace

void draw_weights(const WeightPrior& prior, std::span<const std::int64_t> totals, double scale, const Streams& streams,
                  Weights& weights) {
  const double over = prior.concentration * prior.mean, under = prior.concentration * (1 - prior.mean);
  const double R = static_cast<double>(totals.size());
  LogBeta p{};
  if (prior.shared) {
    Stream stream = streams.at(totals.size());
    p = draw_log_beta(stream, over + scale * sum(totals), under + R * prior.shape);  // (M54)
  }
  for (std::size_t r = 0; r < totals.size(); ++r) {
    Stream stream = streams.at(r);
    const double s = scale * static_cast<double>(totals[r]);
    if (!prior.shared) p = draw_log_beta(stream, over + s, under + prior.shape);  // (M6)
    weights.log_p[r] = p.log_p;
    weights.log_weight[r] = draw_log_gamma(stream, prior.shape + s) + p.log_p;  // (M7)
  }
}

void mean_weights(const WeightPrior& prior, std::span<const std::int64_t> totals, double scale, Weights& weights) {
  const double R = static_cast<double>(totals.size()), all = prior.shared ? scale * sum(totals) : 0;
  for (std::size_t r = 0; r < totals.size(); ++r) {
    const double s = scale * static_cast<double>(totals[r]);
    const double counts = prior.shared ? all : s, shapes = prior.shared ? R * prior.shape : prior.shape;
    const double p = (prior.concentration * prior.mean + counts) / (prior.concentration + shapes + counts);
    weights.log_p[r] = std::log(p);
    weights.log_weight[r] = std::log((prior.shape + s) * p);
  }
}

Predictive predictive(const WeightPrior& prior, double s) {
  const double g = prior.shape, c = prior.concentration;
  if (prior.shared) return {g + s, 1};
  return {(g + s) * (c * prior.mean + s), c + g + s};
}

// log G(g + s) - log G(g) + log G(c (1 - eps) + g) - log G(c + g + s); what all components share is taken together.
// With a shared p the last two terms are there once, with R g for g and sum_r s_r for s.
void add_log_marginal(const WeightPrior& prior, std::span<const std::int64_t> totals, double& sum) {
  const double g = prior.shape, c = prior.concentration, rest = c * (1 - prior.mean);
  if (prior.shared) {
    const double R = static_cast<double>(totals.size());
    sum += log_gamma(rest + R * g) - log_gamma(c + R * g + ztp::sum(totals));
    for (const std::int64_t total : totals) sum += log_rising(g, total);
    return;
  }
  sum += static_cast<double>(totals.size()) * (log_gamma(rest + g) - log_gamma(c + g));
  for (const std::int64_t total : totals) sum += log_rising(g, total) - log_rising(c + g, total);
}

}  // namespace ztp
