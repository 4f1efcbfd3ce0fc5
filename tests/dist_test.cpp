// Do the draws follow their distributions, tails and extreme parameters included?
//
// Seed 20150712, one million draws for each setting, each draw from its own stream as in the kernels. At most 400
// p-values are looked at in this file and each fails below 1e-3 / 400: the whole file raises a false alarm with
// probability at most 1e-3. The seed is fixed and nothing is retried.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "base/random.hpp"
#include "model/draws.hpp"
#include "statistics.hpp"

namespace ztp {
namespace {

using boost::math::gamma_p;
using boost::math::gamma_q;
using boost::math::ibeta;
using boost::math::ibetac;

constexpr std::uint64_t seed = 20150712;
constexpr std::size_t draws = 1'000'000;
constexpr int p_values_allowed = 400;
constexpr double level = 1e-3 / p_values_allowed;
int p_values_seen = 0;

void expect_plausible(double p, const std::string& what) {
  ++p_values_seen;
  EXPECT_GE(p, level) << what;
}

// The level above is right only for as many p-values as it was divided by.
class LevelIsHonest : public testing::Environment {
  void TearDown() override { EXPECT_LE(p_values_seen, p_values_allowed); }
};
const auto* const level_is_honest = testing::AddGlobalTestEnvironment(new LevelIsHonest);

// One million results of draw(stream). Each setting has streams of its own, the same ones whichever tests run before
// it.
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

// A distribution on the integers: P(X <= k) and P(X > k), each without cancellation, and where its middle lies.
struct Discrete {
  std::function<double(double)> below, above;
  double center, spread;
};

// Every integer, or where there are too many every quarter of a standard deviation, is a cell of the chi-squared test.
std::vector<double> cell_ends(const Discrete& law) {
  std::vector<double> ends;
  const double reach = 6 * law.spread + 20, step = std::max(1.0, std::floor(law.spread / 4));
  for (double end = std::max(0.0, std::floor(law.center - reach)); end < law.center + reach; end += step)
    ends.push_back(end);
  return ends;
}

void expect_follows(std::vector<std::int64_t> sample, const Discrete& law, const std::string& what) {
  std::sort(sample.begin(), sample.end());
  std::vector<double> expected, observed;
  double below = 0;
  std::size_t counted = 0;
  const double N = static_cast<double>(sample.size());
  for (const double end : cell_ends(law)) {
    const auto next = std::upper_bound(sample.begin(), sample.end(), static_cast<std::int64_t>(end)) - sample.begin();
    expected.push_back(N * (law.below(end) - below));
    observed.push_back(static_cast<double>(next) - static_cast<double>(counted));
    below = law.below(end);
    counted = static_cast<std::size_t>(next);
  }
  expected.push_back(N * law.above(cell_ends(law).back()));
  observed.push_back(N - static_cast<double>(counted));
  expect_plausible(test::chi_squared_p(expected, observed), what + ", chi-squared");
  // What pooling hides: a single draw where there should be none.
  const double smallest = static_cast<double>(sample.front()), largest = static_cast<double>(sample.back());
  expect_plausible(test::extreme_p(law.below(smallest), N), what + ", smallest");
  expect_plausible(test::extreme_p(law.above(largest - 1), N), what + ", largest");
}

// P(X <= x) and P(X > x) of a continuous distribution, each without cancellation.
struct Tails {
  double below, above;
};

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

// ---- Philox and streams ---------------------------------------------------------------------------------------------

// Random123's published known answers for philox4x32-10, so that a seed means the same on every platform.
TEST(Random, PhiloxKnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  const std::uint32_t all = 0xffffffff;
  EXPECT_EQ(random_block({{0, 0}}, 0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(random_block({{all, all}}, all, ~std::uint64_t{0}, all),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(random_block({{0xa4093822, 0x299f31d0}}, 0x13198a2e, 0x85a308d3243f6a88, 0x03707344),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// How a stream reads its words: in order, low half first, the upper 52 bits of 64 for a uniform.
TEST(Random, StreamReadsTheKnownAnswerInOrder) {
  Stream stream({{0, 0}}, 0, 0);
  EXPECT_EQ(stream.bits32(), 0x6627e8d5u);
  EXPECT_EQ(stream.bits32(), 0xe169c58du);
  EXPECT_EQ(stream.bits64(), 0x9b00dbd8bc57ac4cu);
  const auto second = random_block({{0, 0}}, 0, 0, 1);
  EXPECT_EQ(stream.bits32(), second[0]);
  Stream again({{0, 0}}, 0, 0);
  EXPECT_EQ(again.uniform(), (static_cast<double>(0xe169c58d6627eu) + 0.5) * 0x1p-52);
}

// Keys of different seeds, chains, purposes and modes must all differ: equal keys would repeat the same draws.
TEST(Random, KeysDiffer) {
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t s : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (std::uint32_t chain = 0; chain < 4; ++chain)
      for (std::uint32_t purpose = 1; purpose <= 11; ++purpose)
        for (std::uint32_t mode = 0; mode < 8; ++mode) {
          const StreamKey key = stream_key(s, chain, static_cast<Purpose>(purpose), mode);
          keys.push_back(key.word[0] | (static_cast<std::uint64_t>(key.word[1]) << 32));
        }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
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
    EXPECT_NEAR(log_factorial(k), boost::math::lgamma(k + 1), 1e-11 * boost::math::lgamma(k + 1)) << k;
}

// ---- continuous -----------------------------------------------------------------------------------------------------

TEST(Draws, Normal) {
  const auto law = [](double x) {
    return Tails{0.5 * std::erfc(-x / std::sqrt(2.0)), 0.5 * std::erfc(x / std::sqrt(2.0))};
  };
  expect_follows(sample([](Stream& s) { return draw_normal(s); }), law, "normal");
}

// log G has mass where G itself underflows; there P(log G <= x) = e^(a x) / Gamma(a + 1) (1 - e^x a / (a + 1) + ...).
Tails log_gamma_law(double shape, double x) {
  if (x < -25) {
    const double below = std::exp(shape * x - std::lgamma(shape + 1)) * (1 - std::exp(x) * shape / (shape + 1));
    return {below, 1 - below};
  }
  return {gamma_p(shape, std::exp(x)), gamma_q(shape, std::exp(x))};
}

TEST(Draws, LogGamma) {
  for (const double shape : {1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 1.1, 3.0, 30.0, 1e3, 1e6, 1e9})
    expect_follows(
        sample([&](Stream& s) { return draw_log_gamma(s, shape); }), [&](double x) { return log_gamma_law(shape, x); },
        named("log gamma", shape));
}

// The law of log(p / (1 - p)): where p or 1 - p underflows, by the first term of the incomplete beta's series.
Tails log_odds_law(double a, double b, double x) {
  const double log_beta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  if (x < -40) {
    const double below = std::exp(a * x - std::log(a) - log_beta);
    return {below, 1 - below};
  }
  if (x > 40) {
    const double above = std::exp(-b * x - std::log(b) - log_beta);
    return {1 - above, above};
  }
  const double p = 1 / (1 + std::exp(-x)), q = 1 / (1 + std::exp(x));
  return p < 0.5 ? Tails{ibeta(a, b, p), ibetac(a, b, p)} : Tails{ibetac(b, a, q), ibeta(b, a, q)};
}

// Both logs at once: their difference follows its law, and each is what the difference says it is to 14 digits, however
// close to zero: 1 - p must not come from p, nor log p from a difference of large logs.
TEST(Draws, LogBeta) {
  const double settings[][2] = {{1e-6, 1}, {1e-3, 1e-3}, {1e-3, 5},  {0.01, 1.09}, {0.5, 0.5}, {1, 1},
                                {2, 3.1},  {1e4, 0.1},   {0.1, 1e9}, {1e6, 2e6},   {5, 1e-6}};
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

// ---- discrete -------------------------------------------------------------------------------------------------------

constexpr double means[] = {1e-30, 1e-8, 1e-3, 0.5, 1, 5, 9.99, 10, 50, 1e3, 1e6, 1e9};

Discrete poisson_law(double mean) {
  return {[=](double k) { return k < 0 ? 0 : gamma_q(k + 1, mean); },
          [=](double k) { return k < 0 ? 1 : gamma_p(k + 1, mean); }, mean, std::sqrt(mean)};
}

TEST(Draws, Poisson) {
  for (const double mean : means)
    expect_follows(sample([&](Stream& s) { return draw_poisson(s, mean); }), poisson_law(mean), named("Poisson", mean));
  Stream stream({{1, 2}}, 0, 0);
  EXPECT_EQ(draw_poisson(stream, 0), 0);
}

TEST(Draws, ZeroTruncatedPoisson) {
  for (const double mean : means) {
    const double not_zero = -std::expm1(-mean);
    Discrete law = poisson_law(mean);
    law.below = [=](double k) { return k < 1 ? 0 : 1 - gamma_p(k + 1, mean) / not_zero; };
    law.above = [=](double k) { return k < 1 ? 1 : gamma_p(k + 1, mean) / not_zero; };
    expect_follows(sample([&](Stream& s) { return draw_zero_truncated_poisson(s, mean); }), law,
                   named("zero-truncated Poisson", mean));
  }
  Stream stream({{1, 2}}, 0, 0);
  EXPECT_EQ(draw_zero_truncated_poisson(stream, 0), 1);
}

Discrete binomial_law(std::int64_t trials, double p) {
  const double n = static_cast<double>(trials);
  return {[=](double k) { return k < 0    ? 0
                                 : k >= n ? 1
                                          : ibetac(k + 1, n - k, p); },
          [=](double k) { return k < 0    ? 1
                                 : k >= n ? 0
                                          : ibeta(k + 1, n - k, p); }, n * p, std::sqrt(n * p * (1 - p))};
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
