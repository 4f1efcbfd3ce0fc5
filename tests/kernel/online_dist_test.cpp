// Do the draws that online chains alone ask for follow their laws: gammas of real-valued shapes, some rows of a Dirichlet column, and are
// expected counts the means of drawn ones?
//
// Seed 20150712. At most 100 p-values are looked at in this file and each fails below 1e-3 / 100: the whole file raises a false alarm
// with probability at most 1e-3. The seed is fixed and nothing is retried. Every instruction set draws from streams of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gamma_law.hpp"
#include "kernel/cpu/gamma.hpp"
#include "online_data.hpp"
#include "targets.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 20150712;
Alarms* const alarms = new Alarms(1e-3, 100);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

// ---- gammas ----------------------------------------------------------------------------------------------------------

constexpr double a = 0.05, scale = 0.01;
constexpr std::int64_t counts[] = {8, 65, 94, 96, 125, 1745};  // shapes 0.13, 0.7, 0.99, 1.01, 1.3 and 17.5
constexpr std::size_t kinds = std::size(counts);

// Sorted logs of a million draws of each shape. They are neighbours in a vector, as in a chain.
std::vector<std::vector<double>> draw_gammas(double scale_of_counts, StreamKey key) {
  constexpr std::size_t rows = 200, R = kinds * 100, sweeps = 50;
  Matrix<std::int64_t> S(rows, R);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < R; ++r) S.row(j)[r] = counts[r % kinds];
  Matrix<float> u(rows, R);
  Matrix<double> sums(1, R);
  std::vector<std::vector<double>> logs(kinds);
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    cpu::draw_gamma_rows({S, a, scale_of_counts}, {key, sweep}, {0, rows}, u, sums.row(0));
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t r = 0; r < R; ++r)
        logs[r % kinds].push_back(u.row(j)[r] > 0 ? std::log(static_cast<double>(u.row(j)[r])) : 2 * lowest_log);
  }
  for (auto& of_shape : logs) std::sort(of_shape.begin(), of_shape.end());
  return logs;
}

TEST(OnlineGammas, OfRealShapesFollowTheirLaw) {
  std::uint32_t chain = 0;
  for_each_target([&](const std::string& target) {
    const auto logs = draw_gammas(scale, stream_key(seed, chain++, Purpose::simulate));
    for (std::size_t i = 0; i < kinds; ++i) {
      const double shape = a + scale * static_cast<double>(counts[i]);
      const std::string name = fmt::format("{}: gamma({})", target, shape);
      alarms->expect_plausible(gamma_distance_p(logs[i], shape), name);
      if (shape < 1) alarms->expect_plausible(gamma_tail_p(logs[i], shape, -2), name + ", lower tail");
    }
  });
}

// A shape that is two per cent off, and a boost that is left out.
TEST(Twins, WrongRealShapesAreRejected) {
  const auto logs = draw_gammas(scale * 1.02, stream_key(seed, 100, Purpose::simulate));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, kinds - 1})
    EXPECT_LT(gamma_distance_p(logs[i], a + scale * static_cast<double>(counts[i])), alarms->level()) << counts[i];
  EXPECT_LT(gamma_distance_p(logs[0], 1.13), alarms->level());
}

// ---- some rows of a column -------------------------------------------------------------------------------------------

constexpr std::size_t n = 12;
constexpr double column_a = 0.3;
const std::vector<std::uint32_t> listed = {1, 4, 7};

// Parts of a count to a few counts, and none in some rows.
double count_of(std::size_t j) {
  static constexpr double of_row[n] = {0.25, 0.5, 0, 4.75, 1.125, 0, 2.5, 0, 0.0625, 0, 7.5, 1};
  return of_row[j];
}

struct Columns3 {
  std::vector<double> one, sum, share;  // u[4], u[1] + u[4] + u[7], u[1] / (u[1] + u[4]), each sorted
};

// 200000 columns. `total`: what the rows are said to have together.
Columns3 draw_listed(Kernel& kernel, double total, std::uint32_t chain) {
  constexpr std::size_t R = 1000, sweeps = 200;
  Matrix<std::int64_t> S(n, R);
  for (std::size_t j = 0; j < n; ++j) std::fill_n(S.row(j), R, static_cast<std::int64_t>(count_of(j) * 0x1p16));
  const std::vector<double> totals(R, total);
  Matrix<float> u(n, R);
  Columns3 result;
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    kernel.draw_columns({S, column_a, 0x1p-16, &listed, &totals}, stream_key(seed, chain, Purpose::columns), sweep, u);
    for (std::size_t r = 0; r < R; ++r) {
      const double x = static_cast<double>(u.row(1)[r]) / n, y = static_cast<double>(u.row(4)[r]) / n;
      result.one.push_back(y);
      result.sum.push_back(x + y + static_cast<double>(u.row(7)[r]) / n);
      result.share.push_back(x / (x + y));
    }
  }
  for (auto* sample : {&result.one, &result.sum, &result.share}) std::sort(sample->begin(), sample->end());
  return result;
}

double beta_p(const std::vector<double>& sample, double alpha, double beta) {
  return kolmogorov_smirnov_p(
      sample, [=](double x) { return boost::math::ibeta(alpha, beta, std::clamp(x, 0.0, 1.0)); }, 100);
}

double total_count() {
  double total = 0;
  for (std::size_t j = 0; j < n; ++j) total += count_of(j);
  return total;
}

// Rows of a Dirichlet, any sum of them, and the shares of some of them in their sum are betas. Not one of these laws knows of the others'
// rows but through their sum.
TEST(OnlineColumns, ListedRowsHaveTheLawOfAllRows) {
  Pool pool(1);
  const auto shape = [](std::size_t j) { return column_a + count_of(j); };
  const double all = n * column_a + total_count(), some = shape(1) + shape(4) + shape(7);
  std::uint32_t chain = 0;
  const auto check = [&](Kernel& kernel, const std::string& name) {
    const Columns3 drawn = draw_listed(kernel, total_count(), chain++);
    alarms->expect_plausible(beta_p(drawn.one, shape(4), all - shape(4)), name + ": a row");
    alarms->expect_plausible(beta_p(drawn.sum, some, all - some), name + ": the sum");
    alarms->expect_plausible(beta_p(drawn.share, shape(1), shape(4)), name + ": a share");
  };
  for_each_target([&](const std::string& target) { check(*make_kernel("cpu", pool), target); });
  check(*make_kernel("reference", pool), "reference");
}

// What the others have is forgotten, or a tenth of it is.
TEST(Twins, ForgottenRestIsRejected) {
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  const double listed_count = count_of(1) + count_of(4) + count_of(7), rest = total_count() - listed_count;
  const double all = n * column_a + total_count(), shape = column_a + count_of(4);
  EXPECT_LT(beta_p(draw_listed(*kernel, listed_count, 100).one, shape, all - shape), alarms->level());
  EXPECT_LT(beta_p(draw_listed(*kernel, listed_count + 0.9 * rest, 101).one, shape, all - shape), alarms->level());
}

// ---- inner draws -----------------------------------------------------------------------------------------------------

// The average of many draws of the parameters is near their means: of 60 values none is further off than six standard errors, which happens
// with a probability below 1e-6, or some 1e-5, since a few of them are skewed. With a single draw, as a twin, many are.
TEST(OnlineColumns, InnerDrawsAverageToTheMeans) {
  OnlineData data;
  add_modes({12, 8}, data);
  add_ones(60, false, seed, data);
  data.make_problem(3, 1, seed);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  for (const std::uint32_t M : {10'000u, 1u}) {
    OnlineChain averaged = data.chain({.inner_draws = M}, *kernel),
                mean = data.chain({.mean_parameters = true}, *kernel);
    averaged.start();
    mean.start();
    std::vector<std::vector<double>> spread(
        2);  // n standard deviations of u[j, r], from the statistics both start from
    for (std::size_t k = 0; k < 2; ++k) {
      const auto& S = mean.statistics().rows[k];
      for (std::size_t j = 0; j < S.rows(); ++j)
        for (std::size_t r = 0; r < 3; ++r) {
          const double rows = static_cast<double>(S.rows()), unit_worth = mean.statistics().scale;
          const double all = 0.1 * rows + unit_worth * static_cast<double>(mean.statistics().tensor[r]);
          const double part = (0.1 + unit_worth * static_cast<double>(S.row(j)[r])) / all;
          spread[k].push_back(rows * std::sqrt(part * (1 - part) / (all + 1)));
        }
    }
    averaged.step(false);
    mean.step(false);
    int far = 0;
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < spread[k].size(); ++i) {
        const auto u = [&](const OnlineChain& chain) {
          return static_cast<double>(chain.state().u[k].row(i / 3)[i % 3]);
        };
        far += std::abs(u(averaged) - u(mean)) > 6 * spread[k][i] / 100;
      }
    // Weights are gammas of some 20 counts times betas, which vary by a quarter, and their average by a four-hundredth: eight of these.
    for (std::size_t r = 0; r < 3 && M > 1; ++r)
      EXPECT_NEAR(averaged.state().tensor.log_weight[r], mean.state().tensor.log_weight[r], 0.02);
    if (M == 1)
      EXPECT_GT(far, 30);
    else
      EXPECT_EQ(far, 0);
  }
}

// ---- expected counts -------------------------------------------------------------------------------------------------

constexpr std::uint32_t sweeps = 20'000;
constexpr std::int64_t unit = std::int64_t{1} << 30;

// The largest |z| of means of drawn counts against expected ones, over all sums in which at least 2000 units are expected: with so many,
// a sum is normal to far beyond six standard deviations, which one of them passes with a probability of 2e-9, or 5e-9 if it is skewed.
double largest_z(Kernel& kernel, const World& drawn_from, const World& expected_from, std::uint32_t chain) {
  const Drawn expected =
      allocate(kernel, expected_from, world_key(seed, chain), {.bounded = false, .unit = unit, .expected = true});
  const std::size_t R = expected.totals.size();
  std::vector<Matrix<double>> sum, squares;
  for (const auto& rows : expected.rows)
    for (auto* to : {&sum, &squares}) to->emplace_back(rows.rows(), R);
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    const Drawn drawn = allocate(kernel, drawn_from, world_key(seed, chain), {.bounded = false}, sweep);
    for (std::size_t k = 0; k < sum.size(); ++k)
      for (std::size_t j = 0; j < sum[k].rows(); ++j)
        for (std::size_t r = 0; r < R; ++r) {
          const double value = static_cast<double>(drawn.rows[k].row(j)[r]);
          sum[k].row(j)[r] += value;
          squares[k].row(j)[r] += value * value;
        }
  }
  double largest = 0;
  int compared = 0;
  for (std::size_t k = 0; k < sum.size(); ++k)
    for (std::size_t j = 0; j < sum[k].rows(); ++j)
      for (std::size_t r = 0; r < R; ++r) {
        const double mean = static_cast<double>(expected.rows[k].row(j)[r]) / static_cast<double>(unit);
        const double drawn = sum[k].row(j)[r] / sweeps, variance = squares[k].row(j)[r] / sweeps - drawn * drawn;
        if (mean * sweeps < 2000 || variance < 1e-3 * mean)
          continue;  // an observed count of one component does not vary
        largest = std::max(largest, std::abs(drawn - mean) / std::sqrt(variance / sweeps));
        ++compared;
      }
  EXPECT_GT(compared, 50) << "the test would see nothing";
  return largest;
}

// Fewer than 2000 sums are compared: false alarm below 1e-5.
TEST(OnlineCounts, ExpectedCountsAreTheMeansOfDrawnOnes) {
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  std::uint32_t chain = 0;
  for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing}) {
    const World world = make_world({2, 5, 60, kind}, seed);
    EXPECT_LT(largest_z(*kernel, world, world, ++chain), 6) << static_cast<int>(kind);
  }
  const World network = make_network_world(5, 60, seed);
  EXPECT_LT(largest_z(*kernel, network, network, ++chain), 6) << "network";
}

// A one is not a missing cell: z instead of z / (1 - exp(-z)).
TEST(Twins, ForgottenTruncationIsRejected) {
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  EXPECT_GT(
      largest_z(*kernel, make_world({2, 5, 60, Kind::ones}, seed), make_world({2, 5, 60, Kind::missing}, seed), 9), 20);
}

}  // namespace
}  // namespace ztp::test
