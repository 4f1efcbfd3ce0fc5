// A gamma draw as the columns of factors make it, word for word: one block of four random words an attempt. Slow, in
// double precision and in logs; what the vector kernels do in lanes, and what they fall back to where floats do not
// reach.
#pragma once
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/random.hpp"

namespace ztp {

// In (0, 1): 31 bits of the word.
ZTP_DEVICE inline double uniform31(std::uint32_t word) {
  return (static_cast<double>(word >> 1) + 0.5) * 0x1p-31;
}

// The logarithm of Gamma(shape, 1), shape > 0, from one stream.
// Marsaglia and Tsang (2000): with t = c x, x normal, c = 1 / (3 sqrt d), d = shape - 1/3, the draw d (1 + t)^3 is
// accepted with probability exp(3 d q(t)), q(t) = log(1 + t) - t + t^2/2 - t^3/3. Below 1: G(a) = G(a + 1) U^(1/a).
ZTP_DEVICE inline double log_gamma_at(const Streams& streams, std::uint64_t index, double shape) {
  if (!(shape > 0)) return std::numeric_limits<double>::quiet_NaN();  // no attempt would ever be accepted
  const double boosted = shape < 1 ? shape + 1 : shape;
  const double d = boosted - 1.0 / 3;
  const double c = 1 / (3 * std::sqrt(d));
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto word = random_block(streams.key, streams.t, index, attempt);
    const double angle = 2 * std::numbers::pi * 0x1p-32 * static_cast<double>(static_cast<std::int32_t>(word[1]));
    const double t = c * std::sqrt(-2 * std::log(uniform31(word[0]))) * std::cos(angle);
    if (t <= -1) continue;
    const double q = std::log1p(t) - t + t * t / 2 - t * t * t / 3;
    if (std::log(uniform31(word[2])) < 3 * d * q)
      return std::log(d) + 3 * std::log1p(t) + (shape < 1 ? std::log(uniform31(word[3])) / shape : 0.0);
  }
}

// Turns the logarithms of gamma draws into what they are together `n` times one. The largest becomes one first, so that
// no column is all zero; the sum of the draws relative to it is returned. If that is not finite, a draw has gone bad,
// and they are left relative to it.
inline double normalise_logs(std::vector<double>& log_gamma, double n) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double value : log_gamma)
    largest = value > largest ? value : largest;  // whatever is not a number is passed over
  for (double& value : log_gamma) sum += value = std::exp(value - largest);
  if (std::isfinite(sum))
    for (double& value : log_gamma) value = n * value / sum;
  return sum;
}

}  // namespace ztp
