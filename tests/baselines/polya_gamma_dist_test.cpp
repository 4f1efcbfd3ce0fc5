// Do Polya-Gamma draws follow their law, on both sides of every switch of the sampler?
//
// Seed 20130401, one million draws for each setting. 24 p-values are looked at and each fails below 1e-3 / 24: the
// whole file raises a false alarm with probability at most 1e-3. The seed is fixed and nothing is retried.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "baselines/polya_gamma.hpp"
#include "statistics.hpp"

namespace ztp {
namespace {

constexpr double pi = std::numbers::pi;
constexpr std::size_t draws = 1'000'000;
constexpr double level = 1e-3 / 24;
// 2 * 1.5625 = 3.125 is where the left proposal changes, 60 where a term is dropped.
constexpr double settings[] = {0, 0.3, 1, -3.1, 3.15, 8, 59, 61};

std::vector<double> sample(double z) {
  const StreamKey key =
      stream_key(20130401, 0, Purpose::simulate, static_cast<std::uint32_t>(std::lround(z * 100) + 1000));
  std::vector<double> result(draws);
  for (std::size_t i = 0; i < draws; ++i) {
    Stream stream(key, 0, i);
    result[i] = draw_polya_gamma(stream, z);
  }
  return result;
}

// The density of PG(1, z) from whichever of its two series falls off: not the code of the sampler, which never needs z
// in a series.
double density(double x, double z) {
  double sum = 0;
  for (int n = 0; n < 60; ++n) {
    const double odd = 2 * n + 1, sign = n % 2 == 0 ? 1 : -1;
    sum += x < 0.16 ? sign * odd / std::sqrt(2 * pi * x * x * x) * std::exp(-odd * odd / (8 * x))
                    : sign * 2 * pi * odd * std::exp(-odd * odd * pi * pi * x / 2);
  }
  return std::cosh(z / 2) * std::exp(-z * z * x / 2) * sum;
}

// Its mass between two points, by Simpson's rule on a logarithmic scale.
double mass(double from, double to, double z) {
  const int steps = 200;
  const double a = std::log(from), h = (std::log(to) - a) / steps;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = std::exp(a + i * h);
    sum += (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2) * x * density(x, z);
  }
  return sum * h / 3;
}

TEST(PolyaGamma, DrawsFillCellsAsTheDensitySays) {
  for (const double z : settings) {
    const double mean = z == 0 ? 0.25 : std::tanh(z / 2) / (2 * z);
    std::vector<double> edges;
    for (int i = -30; i <= 30; ++i) edges.push_back(mean * std::exp(i * 0.12));
    std::vector<double> expected, observed(edges.size() - 1, 0);
    double total = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      expected.push_back(static_cast<double>(draws) * mass(edges[i], edges[i + 1], z));
      total += expected.back();
    }
    ASSERT_NEAR(total, static_cast<double>(draws), 1) << "the cells hold all but less than a draw; z = " << z;
    for (const double x : sample(z)) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), x);
      if (above != edges.begin() && above != edges.end())
        ++observed[static_cast<std::size_t>(above - edges.begin()) - 1];
    }
    EXPECT_GT(test::chi_squared_p(expected, observed), level) << z;
  }
}

// Mean and Laplace transform in closed form: the tails too.
TEST(PolyaGamma, HasItsMeanAndLaplaceTransform) {
  for (const double z : settings) {
    const double mean = z == 0 ? 0.25 : std::tanh(z / 2) / (2 * z);
    const double s = 1 / mean, exact = std::cosh(z / 2) / std::cosh(std::sqrt((z * z / 2 + s) / 2));
    double sum[2] = {}, squares[2] = {};
    for (const double x : sample(z)) {
      const double values[] = {x, std::exp(-s * x)};
      for (int i = 0; i < 2; ++i) {
        sum[i] += values[i];
        squares[i] += values[i] * values[i];
      }
    }
    const double n = draws, truth[] = {mean, exact};
    for (int i = 0; i < 2; ++i) {
      const double error = std::sqrt((squares[i] / n - sum[i] / n * (sum[i] / n)) / n);
      EXPECT_GT(test::normal_p((sum[i] / n - truth[i]) / error), level) << z << " " << i;
    }
  }
}

// Seed 1. The mean is 1 / 2z and the variance 1 / 2z^3, so that 1000 draws have a relative standard error of 0.002 at z
// = 500 and less beyond: 0.1 is fifty of them.
TEST(PolyaGamma, LogitsBeyondAnyDataGiveTheirMean) {
  for (const double z : {500.0, -3000.0, 1e6}) {
    double sum = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      Stream stream(stream_key(1, 0, Purpose::simulate), 0, i);
      const double x = draw_polya_gamma(stream, z);
      ASSERT_TRUE(x > 0 && std::isfinite(x)) << z;
      sum += x;
    }
    EXPECT_NEAR(sum / 1000 * 2 * std::abs(z), 1, 0.1) << z;
  }
}

}  // namespace
}  // namespace ztp
