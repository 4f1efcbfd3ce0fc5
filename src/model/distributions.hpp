// Exact draws from the distributions of the model (docs/model.md), in double precision and for extreme parameters too.
// Each reads as many numbers as it needs from its own stream. All of them are compiled for GPUs, too, where nothing is
// thrown: callers there check means and probabilities first.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

#include "base/random.hpp"

namespace ztp {

[[noreturn]] void refuse_mean(double mean);
[[noreturn]] void refuse_chance();

// log G(x), x > 0, which std::lgamma would give too, but not from several threads at once: it writes a global variable.
double log_gamma(double x);
// log(G(x + count) / G(x)). The difference of two log-gammas would lose digits, all of them if x is large.
double log_rising(double x, std::int64_t count);

// ---- what the draws are made of -------------------------------------------------------------------------------------

ZTP_DEVICE inline double draw_normal(Stream& stream) {
  // Box and Muller (1958), one of the pair.
  const double radius = std::sqrt(-2 * std::log(stream.uniform()));
  return radius * std::cos(2 * std::numbers::pi * stream.uniform());
}

// log(k!) - [(k + 1/2) log(k + 1) - (k + 1) + log(2 pi)/2]: the rest of Stirling's series, exact for small k.
ZTP_DEVICE inline double stirling_rest(double k) {
  constexpr double table[] = {0.08106146679532726,  0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
                              0.01664469118982119,  0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
                              0.009255462182712733, 0.008330563433362871};
  if (k < 10) return table[static_cast<int>(k)];
  const double x = 1.0 / (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 * x * x) * x * x) * x;
}

// Rejection would go on for ever with a mean that is not a number, and a count cannot hold more. Throws on the host.
ZTP_DEVICE inline bool is_mean(double mean) {
  if (mean <= 0x1p62) return true;
#ifndef __CUDA_ARCH__
  refuse_mean(mean);
#endif
  return false;
}

// Sequential search from zero; for means below about ten.
ZTP_DEVICE inline std::int64_t poisson_by_inversion(double u, double mean) {
  double term = std::exp(-mean);
  std::int64_t k = 0;
  while (u > term && k < 1000) {
    u -= term;
    ++k;
    term *= mean / static_cast<double>(k);
  }
  return k;
}

// log of the Poisson mass at k, arranged so that large k and mean do not cancel.
ZTP_DEVICE inline double log_poisson_mass(double k, double mean) {
  // k log(mean) - mean - log k!  with  log k! = (k + 1/2) log(k + 1) - (k + 1) + log(2 pi)/2 + rest
  return k * std::log1p((mean - k - 1) / (k + 1)) - 0.5 * std::log(k + 1) - (mean - k - 1) -
         0.5 * std::log(2 * std::numbers::pi) - stirling_rest(k);
}

// Transformed rejection, algorithm PTRS of Hormann (1993), for means of ten and more.
ZTP_DEVICE inline std::int64_t poisson_by_rejection(Stream& stream, double mean) {
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = stream.uniform() - 0.5;
    const double v = stream.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= log_poisson_mass(k, mean))
      return static_cast<std::int64_t>(k);
  }
}

ZTP_DEVICE inline std::int64_t binomial_by_inversion(Stream& stream, std::int64_t trials, double p) {
  const double odds = p / (1 - p);
  double u = stream.uniform();
  double term = std::exp(static_cast<double>(trials) * std::log1p(-p));
  // The mean is below ten: past a thousand only rounding of u is left, and it must not walk on to a billion.
  const std::int64_t end = std::min<std::int64_t>(trials, 1000);
  std::int64_t k = 0;
  while (u > term && k < end) {
    u -= term;
    ++k;
    term *= odds * static_cast<double>(trials - k + 1) / static_cast<double>(k);
  }
  return k;
}

// Transformed rejection, algorithm BTRS of Hormann (1993), for p <= 1/2 and trials * p >= 10.
ZTP_DEVICE inline std::int64_t binomial_by_rejection(Stream& stream, std::int64_t trials, double p) {
  const double n = static_cast<double>(trials);
  const double spread = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = n * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * spread;
  const double m = std::floor((n + 1) * p);
  while (true) {
    const double u = stream.uniform() - 0.5;
    double v = stream.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + center);
    if (us >= 0.07 && v <= v_r) return static_cast<std::int64_t>(k);
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (n - m + 1))) +
                         (n + 1) * std::log1p((k - m) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(n - m) -
                         stirling_rest(k) - stirling_rest(n - k);
    if (v <= bound) return static_cast<std::int64_t>(k);
  }
}

// Past this the logarithms of rejection have lost the digits that decide: they are off by the mean times 2^-53. The
// normal law, off by one part in a million, is closer.
inline constexpr double largest_rejection = 0x1p40;

ZTP_DEVICE inline std::int64_t binomial_by_limit(Stream& stream, std::int64_t trials, double p) {
  const double mean = static_cast<double>(trials) * p;
  return static_cast<std::int64_t>(std::round(mean + std::sqrt(mean * (1 - p)) * draw_normal(stream)));
}

// log k!
ZTP_DEVICE inline double log_factorial(double k) {
  return (k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * std::numbers::pi) + stirling_rest(k);
}

// ---- draws ----------------------------------------------------------------------------------------------------------

// The logarithm of a Gamma(shape, 1) draw: for small shapes the draw itself underflows. shape > 0.
ZTP_DEVICE inline double draw_log_gamma(Stream& stream, double shape) {
  // Marsaglia and Tsang (2000). Below 1: G(a) = G(a + 1) U^(1/a), in logs.
  if (!(shape > 0)) return std::numeric_limits<double>::quiet_NaN();  // no attempt would ever be accepted
  double log_boost = 0;
  if (shape < 1) {
    log_boost = std::log(stream.uniform()) / shape;
    shape += 1;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draw_normal(stream);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = stream.uniform();
    if (u < 1 - 0.0331 * x * x * x * x || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)))
      return std::log(d * v) + log_boost;
  }
}

// log p and log(1 - p) of p ~ Beta(a, b), each without cancellation.
struct LogBeta {
  double log_p;
  double log_q;
};
ZTP_DEVICE inline LogBeta draw_log_beta(Stream& stream, double a, double b) {
  const double x = draw_log_gamma(stream, a);
  const double y = draw_log_gamma(stream, b);
  // Of the odds x - y alone: a difference with log(e^x + e^y) would lose the smaller of the two logs.
  const double rest = std::log1p(std::exp(-std::abs(x - y)));
  return {std::min(x - y, 0.0) - rest, std::min(y - x, 0.0) - rest};
}

// mean >= 0, at most 2^62.
ZTP_DEVICE inline std::int64_t draw_poisson(Stream& stream, double mean) {
  if (mean <= 0) return 0;
  if (!is_mean(mean)) return 0;
  return mean < 10 ? poisson_by_inversion(stream.uniform(), mean) : poisson_by_rejection(stream, mean);
}

// Poisson(mean) given that it is not zero (M8). mean >= 0; mean = 0 gives the limit, 1.
ZTP_DEVICE inline std::int64_t draw_zero_truncated_poisson(Stream& stream, double mean) {
  // (M8): the first arrival t of a rate-one process on [0, mean], given that there is one, then a Poisson count on the
  // rest.
  // The rest is zero if u <= exp(-(mean - t)), and surely so if u <= 1 - mean: then t need not be drawn.
  const double u = stream.uniform();
  if (u <= 1 - mean) return 1;
  if (!is_mean(mean)) return 1;
  const double rest = mean + std::log1p(stream.uniform() * std::expm1(-mean));
  return 1 + (rest < 10 ? poisson_by_inversion(u, rest) : poisson_by_rejection(stream, rest));
}

ZTP_DEVICE inline std::int64_t draw_binomial(Stream& stream, std::int64_t trials, double p) {
  if (trials <= 0 || p <= 0) return 0;
  if (p >= 1) return trials;
#ifndef __CUDA_ARCH__
  if (std::isnan(p)) refuse_chance();
#endif
  // Of the rarer outcome. Not by a call of itself: a GPU would have to guess how much stack that takes.
  const bool rarer_is_failure = p > 0.5;
  if (rarer_is_failure) p = 1 - p;
  std::int64_t count;
  if (static_cast<double>(trials) * p < 10)
    count = binomial_by_inversion(stream, trials, p);
  else if (static_cast<double>(trials) * p > largest_rejection)
    count = binomial_by_limit(stream, trials, p);
  else
    count = binomial_by_rejection(stream, trials, p);
  // As a double, the number of trials may be rounded up.
  count = std::clamp<std::int64_t>(count, 0, trials);
  return rarer_is_failure ? trials - count : count;
}

// Up to so many units are split by as many searches.
inline constexpr std::int64_t most_searched_units = 8;

// Splits `total` over the shares (unnormalised, not negative, not all zero) and calls add(component, count) for its
// parts, which add up: a component may come up several times (M9). A few units are a few searches in the running sum;
// many units go by conditional binomials.
template <class Add>
void draw_multinomial(Stream& stream, std::int64_t total, std::span<const double> shares, Add add) {
  if (total <= 0) return;
  double left = 0;
  for (const double share : shares) left += share;
  // A share so small that its part could not come out positive with 53-bit uniforms is passed over. So a share that
  // underflows in one kernel and not in another does not cost a random number in the one alone.
  const double negligible = left * 0x1p-54 / static_cast<double>(total);
  std::size_t last = 0;  // where rounding of the running sum may leave a remainder
  for (std::size_t r = 0; r < shares.size(); ++r)
    if (shares[r] > negligible) last = r;
  if (total <= most_searched_units) {
    for (std::int64_t unit = 0; unit < total; ++unit) {
      double target = stream.uniform() * left;
      std::size_t r = 0;
      while (r < last && (target -= shares[r]) >= 0) ++r;
      add(r, std::int64_t{1});
    }
    return;
  }
  for (std::size_t r = 0; r < shares.size() && total > 0; ++r) {
    if (shares[r] <= negligible) continue;
    const double p = r == last ? 1.0 : shares[r] / left;
    const std::int64_t part = p >= 1.0 ? total : draw_binomial(stream, total, p);
    if (part > 0) add(r, part);
    total -= part;
    left -= shares[r];
  }
}

}  // namespace ztp
