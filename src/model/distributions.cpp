#include "model/distributions.hpp"

#include <math.h>

#include "base/errors.hpp"

namespace ztp {

void refuse_mean(double mean) {
  throw numeric_error("cannot draw a Poisson count with mean {}; the largest mean is 2^62", mean);
}

void refuse_chance() {
  throw numeric_error("cannot draw a binomial count whose probability is not a number");
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

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

}  // namespace ztp
