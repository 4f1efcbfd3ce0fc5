// Exact draws from the distributions of the model (docs/model.md), in double precision and for extreme parameters too.
// Each reads as many numbers as it needs from its own stream.
#pragma once
#include <cstdint>
#include <span>

#include "base/random.hpp"

namespace ztp {

// log k!, which std::lgamma would give too, but not from several threads at once: it writes a global variable.
double log_factorial(double k);
// Likewise log G(x), x > 0.
double log_gamma(double x);
// log(G(x + count) / G(x)). The difference of two log-gammas would lose digits, all of them if x is large.
double log_rising(double x, std::int64_t count);

double draw_normal(Stream& stream);

// The logarithm of a Gamma(shape, 1) draw: for small shapes the draw itself underflows. shape > 0.
double draw_log_gamma(Stream& stream, double shape);

// log p and log(1 - p) of p ~ Beta(a, b), each without cancellation.
struct LogBeta {
  double log_p;
  double log_q;
};
LogBeta draw_log_beta(Stream& stream, double a, double b);

// mean >= 0, at most 2^62.
std::int64_t draw_poisson(Stream& stream, double mean);

// Poisson(mean) given that it is not zero (M8). mean >= 0; mean = 0 gives the limit, 1.
std::int64_t draw_zero_truncated_poisson(Stream& stream, double mean);

std::int64_t draw_binomial(Stream& stream, std::int64_t trials, double p);

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
  if (total <= 8) {
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
