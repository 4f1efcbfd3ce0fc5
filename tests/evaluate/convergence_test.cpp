// R-hat, effective sample sizes and Monte Carlo errors against ArviZ 0.23.4. The series come from a formula, the
// expected numbers from tests/evaluate/convergence_expected.py.
#include "evaluate/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "statistics.hpp"

namespace ztp {
namespace {

std::vector<double> chain(std::uint64_t seed, std::size_t draws, double rho, double mean = 0, double scale = 1) {
  std::vector<double> values;
  double x = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    double noise = -6;
    for (int u = 0; u < 12; ++u) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      noise += static_cast<double>(seed >> 11) * 0x1p-53;
    }
    x = rho * x + noise;
    values.push_back(mean + scale * x);
  }
  return values;
}

template <class Make>
DrawsOfChains four(Make make) {
  return {make(1), make(2), make(3), make(4)};
}

void expect_near(double got, double expected, const char* what) {
  EXPECT_NEAR(got, expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
}

void expect_same(const DrawsOfChains& draws, const Convergence& expected) {
  const Convergence got = convergence(draws);
  expect_near(got.mean, expected.mean, "mean");
  expect_near(got.sd, expected.sd, "sd");
  expect_near(got.mcse, expected.mcse, "mcse");
  expect_near(got.r_hat, expected.r_hat, "r_hat");
  expect_near(got.ess_bulk, expected.ess_bulk, "ess_bulk");
  expect_near(got.ess_tail, expected.ess_tail, "ess_tail");
}

TEST(Convergence, WellMixed) {
  expect_same(four([](std::uint64_t s) { return chain(s, 500, 0); }),
              {0.000816192532524, 0.983703142895, 0.0222272672935, 0.999996242601, 1957.54445273, 1671.58983206});
}

TEST(Convergence, Slow) {
  expect_same(four([](std::uint64_t s) { return chain(s, 1000, 0.9); }),
              {-0.0858782099026, 2.3347705722, 0.150142799983, 1.01178267912, 243.246316706, 407.567702658});
}

// Hundreds of lags: the Fourier transform.
TEST(Convergence, VerySlow) {
  expect_same(four([](std::uint64_t s) { return chain(s, 3000, 0.999); }),
              {-1.80851307451, 27.2212468488, 11.8972127575, 2.02563521269, 5.48229708608, 12.9970866689});
}

// More effective draws than draws, up to the bound, and an odd number of them.
TEST(Convergence, Antithetic) {
  expect_same(four([](std::uint64_t s) { return chain(s, 401, -0.6); }),
              {0.00378226181441, 1.18903388985, 0.0166065667892, 1.00069060224, 5126.59197225, 1502.37385485});
}

TEST(Convergence, DifferentMeans) {
  expect_same(four([](std::uint64_t s) { return chain(s, 300, 0.3, 0.5 * static_cast<double>(s)); }),
              {1.30426951017, 1.17788009562, 0.256205398462, 1.1481710293, 20.7779942244, 617.746502135});
}

// The means agree: only the folded R-hat sees it.
TEST(Convergence, DifferentScales) {
  expect_same(four([](std::uint64_t s) { return chain(s, 300, 0.3, 0, static_cast<double>(s)); }),
              {0.132442543351, 2.97310648167, 0.124831520167, 1.16807650861, 616.223727551, 416.28493378});
}

TEST(Convergence, WholeNumbers) {
  const auto whole = [](std::uint64_t s) {
    std::vector<double> x = chain(s, 400, 0.5);
    for (double& value : x) value = std::floor(2 * value);
    return x;
  };
  expect_same(four(whole), {-0.485625, 2.30691775489, 0.0954955951786, 1.00351163948, 582.372618705, 796.66569206});
}

// More than 5 % at the largest value: the indicator of the upper quantile is constant.
TEST(Convergence, TwoValues) {
  const auto two = [](std::uint64_t s) {
    std::vector<double> x = chain(s, 400, 0.5);
    for (double& value : x) value = value > 1 ? 1 : 0;
    return x;
  };
  expect_same(four(two), {0.184375, 0.387910951368, 0.0135695678928, 1.00181837768, 817.20693727, 817.20693727});
}

TEST(Convergence, OneChain) {
  expect_same({chain(7, 800, 0.8)},
              {0.273004014446, 1.7472541355, 0.197972331795, 1.01898717294, 78.4144754676, 219.57186267});
}

TEST(Convergence, FourDrawsAreTheFewest) {
  expect_same(four([](std::uint64_t s) { return chain(s, 4, 0); }),
              {0.124389647251, 0.907776898849, 0.206816056761, 0.84211532181, 19.2659197225, 19.2659197225});
  const Convergence three = convergence(four([](std::uint64_t s) { return chain(s, 3, 0); }));
  EXPECT_TRUE(std::isfinite(three.mean));
  EXPECT_TRUE(std::isnan(three.r_hat) && std::isnan(three.ess_bulk) && std::isnan(three.mcse));
}

TEST(Convergence, Constants) {
  const Convergence same = convergence({std::vector<double>(50, 0.1), std::vector<double>(50, 0.1)});
  EXPECT_EQ(same.mean, 0.1);
  EXPECT_EQ(same.sd, 0);
  EXPECT_TRUE(std::isnan(same.r_hat) && std::isnan(same.ess_bulk) && std::isnan(same.ess_tail));
  const Convergence different = convergence({std::vector<double>(50, 0.1), std::vector<double>(50, 0.7)});
  EXPECT_EQ(different.r_hat, std::numeric_limits<double>::infinity());
  EXPECT_LE(different.ess_bulk, 3);
}

TEST(Convergence, LongerChainsAreCutAtTheirEnds) {
  DrawsOfChains draws = four([](std::uint64_t s) { return chain(s, 300, 0.3); });
  const Convergence equal = convergence(draws);
  draws[2].insert(draws[2].end(), 100, 1e6);
  EXPECT_EQ(convergence(draws).r_hat, equal.r_hat);
  EXPECT_EQ(convergence(draws).mcse, equal.mcse);
}

TEST(Convergence, NothingIsMadeOfBadNumbers) {
  DrawsOfChains draws = {chain(1, 50, 0), chain(2, 50, 0)};
  draws[1][7] = std::nan("");
  EXPECT_TRUE(std::isnan(convergence(draws).r_hat));
  draws[1][7] = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(convergence(draws).ess_bulk));
  EXPECT_TRUE(std::isnan(convergence({}).mean));
  EXPECT_TRUE(std::isnan(convergence({{}, {}}).mean));
}

// Both ways of computing, on both sides of the change: 1 / N of the plain sum.
TEST(Autocovariance, TransformEqualsSums) {
  const DrawsOfChains draws = {chain(1, 333, 0.9), chain(2, 333, 0.9), chain(3, 333, 0.9)};
  Autocovariance covariance(draws);
  for (const std::size_t lag :
       {std::size_t{0}, std::size_t{99}, std::size_t{100}, std::size_t{101}, std::size_t{332}}) {
    double sum = 0;
    for (const auto& x : draws) {
      double mean = 0;
      for (const double value : x) mean += value / 333;
      for (std::size_t i = 0; i + lag < 333; ++i) sum += (x[i] - mean) * (x[i + lag] - mean) / 333 / 3;
    }
    EXPECT_NEAR(covariance(lag), sum, 1e-12) << lag;
  }
}

TEST(NormalQuantile, EqualsBoost) {
  for (const double p : {1e-300, 1e-12, 1e-5, 0.001, 0.02, 0.3, 0.4999, 0.5, 0.6, 0.975, 1 - 1e-9})
    EXPECT_NEAR(normal_quantile(p), test::normal_quantile_of(p), 1e-13 * (1 + std::abs(test::normal_quantile_of(p))))
        << p;
}

}  // namespace
}  // namespace ztp
