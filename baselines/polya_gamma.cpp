// omega = J / 4 with J ~ J*(1, z/2), the law of Devroye (2009): a proposal with an exponential tail to the right of
// `cut` and an inverse Gaussian to the left of it, accepted by an alternating series whose partial sums bound the
// density from both sides. Hardly ever more than one proposal a draw.
#include "baselines/polya_gamma.hpp"

#include <cmath>
#include <numbers>

#include "model/distributions.hpp"

namespace ztp {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double cut = 0.64;

double draw_exponential(Stream& stream) {
  return -std::log(stream.uniform());
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// Inverse Gaussian (mean 1/z, shape 1) given that it is at most `cut`.
double draw_truncated_inverse_gaussian(Stream& stream, double z) {
  if (z * cut < 1) {  // the mean is beyond the cut: from z = 0, a chi-squared's inverse, by rejection
    while (true) {
      double first = 0, second = 0;
      do {
        first = draw_exponential(stream);
        second = draw_exponential(stream);
      } while (first * first > 2 * second / cut);
      const double root = 1 + cut * first;
      const double x = cut / (root * root);
      if (stream.uniform() <= std::exp(-0.5 * z * z * x)) return x;
    }
  }
  const double mean = 1 / z;
  while (true) {  // Michael, Schucany and Haas (1976)
    const double normal = draw_normal(stream);
    const double y = mean * normal * normal;
    double x = mean + 0.5 * mean * (y - std::sqrt(4 * y + y * y));
    if (stream.uniform() * (mean + x) > mean) x = mean * mean / x;
    if (x <= cut) return x;
  }
}

// Term n of the series for the density of J*(1, 0), in the form that falls off on the side of the cut where x is.
double term(int n, double x) {
  const double half = n + 0.5;
  if (x > cut) return pi * half * std::exp(-0.5 * half * half * pi * pi * x);
  const double root = std::sqrt(2 / (pi * x));
  return root * root * root * pi * half * std::exp(-2 * half * half / x);
}

}  // namespace

double draw_polya_gamma(Stream& stream, double full_z) {
  const double z = 0.5 * std::abs(full_z);
  const double rate = pi * pi / 8 + 0.5 * z * z;
  // The masses of the proposal to the right and to the left of the cut.
  const double right = pi / (2 * rate) * std::exp(-rate * cut);
  const double root = 1 / std::sqrt(cut);
  double left = 2 * std::exp(-z) * normal_cdf(root * (cut * z - 1));
  if (z < 30) left += 2 * std::exp(z) * normal_cdf(-root * (cut * z + 1));  // beyond, less than a rounding
  while (true) {
    const double x = stream.uniform() * (right + left) < right ? cut + draw_exponential(stream) / rate
                                                               : draw_truncated_inverse_gaussian(stream, z);
    double sum = term(0, x);
    const double level = stream.uniform() * sum;
    for (int n = 1;; ++n) {
      if (n % 2 == 1) {
        sum -= term(n, x);
        if (level <= sum) return 0.25 * x;
      } else {
        sum += term(n, x);
        if (level > sum) break;
      }
    }
  }
}

}  // namespace ztp
