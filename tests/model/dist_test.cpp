// Do the draws follow their distributions, tails and extreme parameters included?
//
// Seed 20150712, half a million draws for each setting, each draw from its own stream as in the kernels. At most 700
// p-values are looked at in this file and each fails below 1e-3 / 700: the whole file raises a false alarm with
// probability at most 1e-3. The seed is fixed and nothing is retried.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "laws.hpp"
#include "model/distributions.hpp"
#include "statistics.hpp"

namespace ztp {
namespace {

using test::binomial_law;
using test::CellCounts;
using test::log_gamma_law;
using test::log_odds_law;
using test::part_of_a_one_law;
using test::poisson_law;
using test::SplitCounts;
using test::Tails;

constexpr std::uint64_t seed = 20150712;
constexpr std::size_t draws = 500'000;
test::Alarms* const alarms = new test::Alarms(1e-3, 700);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

void expect_plausible(double p, const std::string& what) {
  alarms->expect_plausible(p, what);
}

// Results of draw(stream). Each setting has streams of its own, the same ones whichever tests run before it.
template <class Draw>
auto sample(Draw draw) {
  static std::string test_name;
  static std::uint32_t setting = 0;
  const std::string now = testing::UnitTest::GetInstance()->current_test_info()->name();
  setting = now == test_name ? setting + 1 : 0;
  test_name = now;
  std::uint32_t hash = 2166136261u;  // Fowler, Noll and Vo
  for (const char c : now) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const StreamKey key = stream_key(seed, 0, Purpose::simulate, hash);
  std::vector<decltype(draw(std::declval<Stream&>()))> result(draws);
  for (std::size_t i = 0; i < draws; ++i) {
    Stream stream(key, setting, i);
    result[i] = draw(stream);
  }
  return result;
}

void expect_follows(const std::vector<std::int64_t>& sample, const test::Discrete& law, const std::string& what) {
  CellCounts counts(law, what);
  for (const std::int64_t value : sample) counts.add(value);
  counts.expect_plausible(*alarms);
}

template <class Law>
void expect_follows(std::vector<double> sample, Law law, const std::string& what) {
  std::sort(sample.begin(), sample.end());
  const Tails first = law(sample.front()), last = law(sample.back());
  const double N = static_cast<double>(sample.size());
  expect_plausible(test::kolmogorov_smirnov_p(
                       sample, [&](double x) { return law(x).below; }, 200),
                   what + ", Kolmogorov-Smirnov");
  expect_plausible(test::extreme_p(first.below, N), what + ", smallest");
  expect_plausible(test::extreme_p(last.above, N), what + ", largest");
}

std::string named(const char* name, double first) {
  return fmt::format("{}({})", name, first);
}
std::string named(const char* name, double first, double second) {
  return fmt::format("{}({}, {})", name, first, second);
}

void expect_uniform(std::vector<double> u, const std::string& what) {
  const double N = static_cast<double>(u.size());
  std::vector<double> cells(1024, 0), pairs(1024, 0);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    ASSERT_GT(u[i], 0) << what;
    ASSERT_LT(u[i], 1) << what;
    cells[static_cast<std::size_t>(u[i] * 1024)] += 1;
    if (i % 2 == 1) pairs[static_cast<std::size_t>(u[i - 1] * 32) * 32 + static_cast<std::size_t>(u[i] * 32)] += 1;
    sum += u[i] - 0.5;
    squares += (u[i] - 0.5) * (u[i] - 0.5) - 1.0 / 12;
  }
  expect_plausible(test::chi_squared_p(std::vector<double>(1024, N / 1024), cells), what + ", chi-squared");
  expect_plausible(test::chi_squared_p(std::vector<double>(1024, N / 2048), pairs), what + ", neighbours");
  expect_plausible(test::normal_p(sum / std::sqrt(N / 12)), what + ", mean");
  expect_plausible(test::normal_p(squares / std::sqrt(N / 180)), what + ", variance");
  expect_follows(
      std::move(u),
      [](double x) {
        return Tails{x, 1 - x};
      },
      what);
}

// Along a stream, across the streams of one sweep (the entries), and across sweeps of one entry.
TEST(Random, UniformAlongAndAcrossStreams) {
  const StreamKey key = stream_key(seed, 1, Purpose::counts);
  std::vector<double> along(draws), entries(draws), sweeps(draws);
  Stream one(key, 7, 7);
  for (std::size_t i = 0; i < draws; ++i) {
    along[i] = one.uniform();
    entries[i] = Stream(key, 1, i).uniform();
    sweeps[i] = Stream(key, static_cast<std::uint32_t>(i), 1).uniform();
  }
  expect_uniform(std::move(along), "along a stream");
  expect_uniform(std::move(entries), "across entries");
  expect_uniform(std::move(sweeps), "across sweeps");
}

// For bounds near 2^64 a product without rejection would favour some remainders two to one.
TEST(Random, BelowIsUnbiased) {
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000},
                                    (std::uint64_t{1} << 33) + 3, std::uint64_t{3} << 62, ~std::uint64_t{0}}) {
    const auto values = sample([&](Stream& s) { return s.below(bound); });
    const double N = static_cast<double>(draws);
    const std::size_t parts = std::min<std::uint64_t>(bound, 1000), remainders = std::min<std::uint64_t>(bound, 3);
    std::vector<double> part(parts, 0), remainder(remainders, 0);
    for (const std::uint64_t value : values) {
      ASSERT_LT(value, bound);
      part[static_cast<std::size_t>(static_cast<uint128>(value) * parts / bound)] += 1;
      remainder[value % remainders] += 1;
    }
    const std::string what = "below " + std::to_string(bound);
    expect_plausible(test::chi_squared_p(std::vector<double>(parts, N / static_cast<double>(parts)), part), what);
    const std::vector<double> equal(remainders, N / static_cast<double>(remainders));
    if (bound % remainders == 0 || bound > 1u << 30)
      expect_plausible(test::chi_squared_p(equal, remainder), what + ", remainders");
  }
}

// The rejection methods for Poisson and binomial rest on this series, and so does the likelihood of counts.
TEST(Draws, LogFactorial) {
  EXPECT_NEAR(log_factorial(0), 0, 1e-15);
  EXPECT_NEAR(log_factorial(1), 0, 1e-15);
  for (double k = 2; k < 1e18; k = k < 100 ? k + 1 : std::floor(k * 1.7))
    EXPECT_NEAR(log_factorial(k), std::lgamma(k + 1), 1e-11 * std::lgamma(k + 1)) << k;
}

// ---- continuous -----------------------------------------------------------------------------------------------------

TEST(Draws, Normal) {
  const auto law = [](double x) {
    return Tails{0.5 * std::erfc(-x / std::sqrt(2.0)), 0.5 * std::erfc(x / std::sqrt(2.0))};
  };
  expect_follows(sample([](Stream& s) { return draw_normal(s); }), law, "normal");
}

TEST(Draws, LogGamma) {
  for (const double shape : {1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 1.1, 3.0, 30.0, 1e3, 1e6, 1e9})
    expect_follows(
        sample([&](Stream& s) { return draw_log_gamma(s, shape); }), [&](double x) { return log_gamma_law(shape, x); },
        named("log gamma", shape));
}

// Both logs at once: their difference follows its law, and each is what the difference says it is to 14 digits, however
// close to zero: 1 - p must not come from p, nor log p from a difference of large logs.
TEST(Draws, LogBeta) {
  const double settings[][2] = {{1e-6, 1}, {1e-3, 1e-3}, {1e-3, 5},   {0.01, 1.09}, {0.5, 0.5},
                                {1, 1},    {2, 3.1},     {1e4, 0.1},  {0.1, 1e9},   {1e6, 2e6},
                                {5, 1e-6}, {1e-6, 1e-6}, {1e-6, 1e9}, {1e9, 1e9}};
  for (const auto& [a, b] : settings) {
    const auto pairs = sample([&](Stream& s) { return draw_log_beta(s, a, b); });
    std::vector<double> log_odds;
    double worst = 0;
    for (const LogBeta& pair : pairs) {
      const double x = pair.log_p - pair.log_q;
      const double log_p = x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
      const double log_q = x > 0 ? -x - std::log1p(std::exp(-x)) : -std::log1p(std::exp(x));
      // x itself is rounded, which moves e^x by |x| 2^-53.
      const double allowed = 1e-14 * (1 + std::abs(x));
      worst = std::max(worst, std::abs(pair.log_p - log_p) - allowed * std::abs(log_p));
      worst = std::max(worst, std::abs(pair.log_q - log_q) - allowed * std::abs(log_q));
      log_odds.push_back(x);
    }
    EXPECT_LE(worst, 0) << named("log beta", a, b);
    expect_follows(
        std::move(log_odds), [&](double x) { return log_odds_law(a, b, x); }, named("log beta", a, b));
  }
}

// Gammas over their sum, as columns are made of them: each share is a beta, and its log-odds against the rest are the
// difference of two logs.
TEST(Draws, Dirichlet) {
  const std::vector<double> settings[] = {{1e-6, 1e-6, 1e-6}, {1e-6, 0.1, 1e9}, {0.1, 0.1, 3.1, 1}, {1e9, 5e8, 1e9}};
  for (const std::vector<double>& shapes : settings) {
    const auto all = sample([&](Stream& s) {
      std::vector<double> log_gamma;
      for (const double shape : shapes) log_gamma.push_back(draw_log_gamma(s, shape));
      return log_gamma;
    });
    double sum = 0;
    for (const double shape : shapes) sum += shape;
    for (std::size_t j = 0; j < shapes.size(); ++j) {
      std::vector<double> log_odds;
      for (const auto& one : all) {
        double largest = -std::numeric_limits<double>::infinity(), rest = 0;
        for (std::size_t i = 0; i < one.size(); ++i)
          if (i != j) largest = std::max(largest, one[i]);
        for (std::size_t i = 0; i < one.size(); ++i)
          if (i != j) rest += std::exp(one[i] - largest);
        log_odds.push_back(one[j] - largest - std::log(rest));
      }
      expect_follows(
          std::move(log_odds), [&](double x) { return log_odds_law(shapes[j], sum - shapes[j], x); },
          fmt::format("Dirichlet({}), share {}", fmt::join(shapes, ", "), j));
    }
  }
}

// ---- discrete -------------------------------------------------------------------------------------------------------

constexpr double means[] = {1e-30, 1e-16, 1e-8, 1e-3, 0.5, 1, 5, 9.99, 10, 11, 50, 1e3, 1e6, 1e9};

TEST(Draws, Poisson) {
  for (const double mean : means)
    expect_follows(sample([&](Stream& s) { return draw_poisson(s, mean); }), poisson_law(mean), named("Poisson", mean));
  Stream stream({{1, 2}}, 0, 0);
  EXPECT_EQ(draw_poisson(stream, 0), 0);
}

TEST(Draws, ZeroTruncatedPoisson) {
  for (const double mean : means)
    expect_follows(sample([&](Stream& s) { return draw_zero_truncated_poisson(s, mean); }),
                   part_of_a_one_law(mean, mean), named("zero-truncated Poisson", mean));
  Stream stream({{1, 2}}, 0, 0);
  EXPECT_EQ(draw_zero_truncated_poisson(stream, 0), 1);
}

TEST(Draws, Binomial) {
  const std::pair<std::int64_t, double> settings[] = {{1, 1e-9},
                                                      {1, 0.5},
                                                      {1, 0.999},
                                                      {2, 0.3},
                                                      {9, 0.7},
                                                      {20, 0.499},
                                                      {20, 0.5},
                                                      {21, 0.5},
                                                      {1000, 1e-3},
                                                      {1000, 0.00999},
                                                      {1000, 0.0101},
                                                      {1000, 0.999},
                                                      {100000, 0.37},
                                                      {1u << 30, 1e-9},
                                                      {1'000'000'000, 1e-30},
                                                      {1'000'000'000, 1e-9},
                                                      {1'000'000'000, 1e-8},
                                                      {1'000'000'000, 0.25},
                                                      {1'000'000'000, 0.999}};
  for (const auto& [trials, p] : settings)
    expect_follows(sample([&, n = trials, q = p](Stream& s) { return draw_binomial(s, n, q); }),
                   binomial_law(trials, p), named("binomial", static_cast<double>(trials), p));
  Stream stream({{1, 2}}, 0, 0);
  EXPECT_EQ(draw_binomial(stream, 7, 0), 0);
  EXPECT_EQ(draw_binomial(stream, 7, 1), 7);
  EXPECT_EQ(draw_binomial(stream, 0, 0.5), 0);
}

constexpr double shares[] = {0, 0.5, 0, 3, 1e-3, 0, 1.5, 0};  // zeros in front, inside and at the end
constexpr double shares_sum = 5.001;

std::vector<std::int64_t> split(Stream& stream, std::int64_t total) {
  std::vector<std::int64_t> parts(std::size(shares), 0);
  draw_multinomial(stream, total, shares, [&](std::size_t r, std::int64_t part) { parts[r] += part; });
  return parts;
}

// Zero shares are never chosen, nothing is lost, each part is binomial, and so is the sum of two (their dependence).
TEST(Draws, MultinomialPartsAreBinomial) {
  for (const std::int64_t total : {std::int64_t{1}, std::int64_t{2}, std::int64_t{8}, std::int64_t{9},
                                   std::int64_t{1816}, std::int64_t{5'000'000'000}}) {
    const auto all = sample([&](Stream& s) { return split(s, total); });
    std::vector<std::vector<std::int64_t>> parts(std::size(shares));
    std::vector<std::int64_t> two;
    for (const auto& one : all) {
      std::int64_t sum = 0;
      for (std::size_t r = 0; r < one.size(); ++r) {
        sum += one[r];
        if (shares[r] > 0) parts[r].push_back(one[r]);
        ASSERT_TRUE(shares[r] > 0 || one[r] == 0) << "component " << r << " has share zero";
      }
      ASSERT_EQ(sum, total);
      two.push_back(one[1] + one[6]);
    }
    const std::string what = named("multinomial", static_cast<double>(total));
    for (const std::size_t r : {1, 3, 4, 6})
      expect_follows(parts[r], binomial_law(total, shares[r] / shares_sum), what + ", component " + std::to_string(r));
    expect_follows(two, binomial_law(total, 2 / shares_sum), what + ", components 1 and 6");
  }
}

// Shares that are 1e39 apart, and every way in which a few units can fall.
TEST(Draws, MultinomialOfExtremeShares) {
  const std::vector<double> wide = {1e-30, 1, 1e9, 1e-9, 2e8}, even = {0.2, 0.1, 0.3, 0.15, 0.25};
  for (const std::int64_t total : {1, 3, 4, 1'000'000'000})
    for (const std::vector<double>& some : {wide, even}) {
      double sum = 0;
      for (const double share : some) sum += share;
      std::vector<double> p;
      for (const double share : some) p.push_back(share / sum);
      SplitCounts counts(total, p, fmt::format("multinomial({}; {})", total, fmt::join(some, ", ")));
      for (const auto& one : sample([&](Stream& s) {
             std::array<std::int64_t, 5> parts{};
             draw_multinomial(s, total, some, [&](std::size_t r, std::int64_t part) { parts[r] += part; });
             return parts;
           }))
        counts.add(one.data());
      counts.expect_plausible(*alarms);
    }
}

// The joint law of two units by search: they must be independent of each other.
TEST(Draws, MultinomialUnitsAreIndependent) {
  const std::size_t R = std::size(shares);
  std::vector<double> expected(R * R, 0), observed(R * R, 0);
  for (std::size_t a = 0; a < R; ++a)
    for (std::size_t b = 0; b < R; ++b)
      expected[a * R + b] = static_cast<double>(draws) * shares[a] * shares[b] / (shares_sum * shares_sum);
  const auto ordered = sample([&](Stream& s) {
    std::size_t pair = 0;
    draw_multinomial(s, 2, shares, [&](std::size_t r, std::int64_t) { pair = pair * R + r; });
    return pair;
  });
  for (const std::size_t pair : ordered) observed[pair] += 1;
  expect_plausible(test::chi_squared_p(expected, observed), "two units");
}

// One positive share takes everything, however small it is.
TEST(Draws, MultinomialWithOneShare) {
  Stream stream({{3, 4}}, 0, 0);
  for (const std::int64_t total : {std::int64_t{1}, std::int64_t{8}, std::int64_t{100}}) {
    std::int64_t third = 0;
    draw_multinomial(stream, total, std::vector<double>{0, 0, 1e-300, 0}, [&](std::size_t r, std::int64_t part) {
      EXPECT_EQ(r, 2u);
      third += part;
    });
    EXPECT_EQ(third, total);
  }
}

}  // namespace
}  // namespace ztp
