// A gamma draw as the columns of factors make it, word for word: one block of four random words an attempt. Slow, in double
// precision and in logs; what the vector kernels do in lanes, and what they fall back to where floats do not reach.
#pragma once
#include <cmath>
#include <numbers>

#include "base/random.hpp"

namespace ztp {

// In (0, 1): 31 bits of the word.
inline double uniform31(std::uint32_t word) {
  return (static_cast<double>(word >> 1) + 0.5) * 0x1p-31;
}

// The logarithm of Gamma(shape, 1), shape > 0, from the stream (key, sweep, index).
// Marsaglia and Tsang (2000): with t = c x, x normal, c = 1 / (3 sqrt d), d = shape - 1/3, the draw d (1 + t)^3 is accepted with
// probability exp(3 d q(t)), q(t) = log(1 + t) - t + t^2/2 - t^3/3. Below 1: G(a) = G(a + 1) U^(1/a).
inline double log_gamma_at(StreamKey key, std::uint32_t sweep, std::uint64_t index, double shape) {
  const double boosted = shape < 1 ? shape + 1 : shape;
  const double d = boosted - 1.0 / 3;
  const double c = 1 / (3 * std::sqrt(d));
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto word = random_block(key, sweep, index, attempt);
    const double angle = 2 * std::numbers::pi * 0x1p-32 * static_cast<double>(static_cast<std::int32_t>(word[1]));
    const double t = c * std::sqrt(-2 * std::log(uniform31(word[0]))) * std::cos(angle);
    if (t <= -1) continue;
    const double q = std::log1p(t) - t + t * t / 2 - t * t * t / 3;
    if (std::log(uniform31(word[2])) < 3 * d * q)
      return std::log(d) + 3 * std::log1p(t) + (shape < 1 ? std::log(uniform31(word[3])) / shape : 0.0);
  }
}

}  // namespace ztp
