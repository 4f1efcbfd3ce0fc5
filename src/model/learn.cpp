#include "model/learn.hpp"

#include <math.h>

#include <cmath>

namespace ztp {
namespace {

// std::lgamma writes a global variable, which two chains at once must not.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// log(G(x + count) / G(x)). The difference of two log-gammas would lose digits to cancellation, all of them if x is large.
double log_rising(double x, std::int64_t count) {
  const double n = static_cast<double>(count);
  if (count <= 16) {
    double sum = 0;
    for (double i = 0; i < n; ++i) sum += std::log(x + i);
    return sum;
  }
  if (x < 30) return log_gamma(x + n) - log_gamma(x);
  // Stirling's series for both, subtracted term by term
  const auto rest = [](double y) { return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / (y * y)) / (y * y)) / y; };
  return n * std::log(x) + (x + n - 0.5) * std::log1p(n / x) - n + rest(x + n) - rest(x);
}

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

double log_prior(double log_value, double median) {
  const double z = (log_value - std::log(median)) / log_prior_sd;
  return -0.5 * z * z;
}

}  // namespace

double draw_dirichlet_parameter(Stream& stream, double a, double median, double n,
                                std::span<const std::pair<std::int64_t, std::int64_t>> tally,
                                std::span<const std::int64_t> totals) {
  return std::exp(draw_slice(stream, std::log(a), [&](double log_a) {
    const double value = std::exp(log_a);
    double sum = log_prior(log_a, median);
    for (const auto& [count, times] : tally) sum += static_cast<double>(times) * log_rising(value, count);
    for (const std::int64_t total : totals) sum -= log_rising(n * value, total);
    return sum;
  }));
}

double draw_gamma_shape(Stream& stream, double g, const WeightPrior& prior, std::span<const std::int64_t> totals) {
  const double c = prior.concentration, rest = c * (1 - prior.mean);
  return std::exp(draw_slice(stream, std::log(g), [&](double log_g) {
    const double shape = std::exp(log_g);
    double sum = log_prior(log_g, prior.shape);
    // lnG(g + s) - lnG(g) + lnG(c (1 - eps) + g) - lnG(c + g + s); the part that all components share is taken together
    sum += static_cast<double>(totals.size()) * (log_gamma(rest + shape) - log_gamma(c + shape));
    for (const std::int64_t total : totals) sum += log_rising(shape, total) - log_rising(c + shape, total);
    return sum;
  }));
}

}  // namespace ztp
