#include "model/learn.hpp"

#include <cmath>

#include "model/distributions.hpp"

namespace ztp {
namespace {

// Slice sampling of x with stepping out and shrinkage (Neal 2003, figures 3 and 5).
template <class LogDensity>
double draw_slice(Stream& stream, double x, LogDensity log_density) {
  constexpr double width = 1;
  constexpr int most_steps = 50;  // to either side together: far beyond any prior here
  const double level = log_density(x) + std::log(stream.uniform());
  double left = x - width * stream.uniform(), right = left + width;
  int steps_left = static_cast<int>(stream.uniform() * most_steps), steps_right = most_steps - 1 - steps_left;
  for (; steps_left > 0 && log_density(left) > level; --steps_left) left -= width;
  for (; steps_right > 0 && log_density(right) > level; --steps_right) right += width;
  while (true) {
    const double proposal = left + (right - left) * stream.uniform();
    if (log_density(proposal) >= level) return proposal;
    (proposal < x ? left : right) = proposal;
    if (!(right - left > 1e-12 * (1 + std::abs(x)))) return x;  // rounding has used up the slice
  }
}

// (M19)
double log_prior(double log_value, double median) {
  const double z = (log_value - std::log(median)) / log_prior_sd;
  return -0.5 * z * z;
}

}  // namespace

// (M20)
double draw_dirichlet_parameter(Stream& stream, double a, double median, const ColumnCounts& counts) {
  return std::exp(draw_slice(stream, std::log(a), [&](double log_a) {
    const double value = std::exp(log_a);
    double sum = log_prior(log_a, median);
    for (const auto& [count, times] : counts.tally) sum += static_cast<double>(times) * log_rising(value, count);
    for (const std::int64_t total : counts.totals) sum -= log_rising(counts.n * value, total);
    return sum;
  }));
}

// (M21)
double draw_gamma_shape(Stream& stream, double g, const WeightPrior& prior, std::span<const std::int64_t> totals) {
  return std::exp(draw_slice(stream, std::log(g), [&](double log_g) {
    double sum = log_prior(log_g, prior.shape);
    add_log_marginal(prior.with_shape(std::exp(log_g)), totals, sum);
    return sum;
  }));
}

}  // namespace ztp
