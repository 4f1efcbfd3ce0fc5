#include "model/weight_prior.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"
#include "ztp/options.hpp"

namespace ztp {

WeightPriors weight_priors(const FitOptions& complete) {
  return {{complete.gamma_shape, complete.beta_concentration, complete.beta_mean},
          {complete.network_gamma_shape, complete.network_beta_concentration, complete.network_beta_mean}};
}

void complete_weight_priors(FitOptions& options) {
  const double mean = std::min(0.5, 1 / static_cast<double>(options.rank));
  if (options.beta_mean < 0) options.beta_mean = mean;
  if (options.network_beta_mean < 0) options.network_beta_mean = mean;
}

void draw_weights(const WeightPrior& prior, std::span<const std::int64_t> totals, double scale, const Streams& streams,
                  Weights& weights) {
  for (std::size_t r = 0; r < totals.size(); ++r) {
    Stream stream = streams.at(r);
    const double s = scale * static_cast<double>(totals[r]);
    const LogBeta p = draw_log_beta(stream, prior.concentration * prior.mean + s,
                                    prior.concentration * (1 - prior.mean) + prior.shape);  // (M6)
    weights.log_p[r] = p.log_p;
    weights.log_weight[r] = draw_log_gamma(stream, prior.shape + s) + p.log_p;  // (M7)
  }
}

void mean_weights(const WeightPrior& prior, std::span<const std::int64_t> totals, double scale, Weights& weights) {
  for (std::size_t r = 0; r < totals.size(); ++r) {
    const double s = scale * static_cast<double>(totals[r]);
    const double p = (prior.concentration * prior.mean + s) / (prior.concentration + prior.shape + s);
    weights.log_p[r] = std::log(p);
    weights.log_weight[r] = std::log((prior.shape + s) * p);
  }
}

Predictive predictive(const WeightPrior& prior, double s) {
  const double g = prior.shape, c = prior.concentration;
  return {(g + s) * (c * prior.mean + s), c + g + s};
}

// log G(g + s) - log G(g) + log G(c (1 - eps) + g) - log G(c + g + s); what all components share is taken together.
void add_log_marginal(const WeightPrior& prior, std::span<const std::int64_t> totals, double& sum) {
  const double g = prior.shape, c = prior.concentration, rest = c * (1 - prior.mean);
  sum += static_cast<double>(totals.size()) * (log_gamma(rest + g) - log_gamma(c + g));
  for (const std::int64_t total : totals) sum += log_rising(g, total) - log_rising(c + g, total);
}

}  // namespace ztp
