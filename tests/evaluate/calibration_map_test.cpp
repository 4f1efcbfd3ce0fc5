// Maps from probabilities to calibrated ones, and how chains are combined.
#include "evaluate/calibration_map.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "evaluate/chain_average.hpp"

namespace ztp {
namespace {

struct Cells {
  std::vector<double> logits, weights;
  std::vector<std::uint8_t> outcomes, fold;
};

// Cells whose outcomes follow a map of their logits. Half of the zeros are left out, and the others count twice.
template <class Truth>
Cells draw_cells(std::size_t count, std::uint64_t seed, const Truth& truth) {
  Cells cells;
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  while (cells.logits.size() < count) {
    const double x = 8 * stream.uniform() - 5;
    const bool one = stream.uniform() < probability_of_logit(truth(x));
    if (!one && stream.uniform() < 0.5) continue;
    cells.logits.push_back(x);
    cells.outcomes.push_back(one);
    cells.weights.push_back(one ? 1 : 2);
    cells.fold.push_back(static_cast<std::uint8_t>(cells.logits.size() % 5));
  }
  return cells;
}

double bent(double x) {
  return 0.3 + 1.5 * x - (x > 1 ? 1.1 * (x - 1) : 0);
}

// Seeds 1 to 20: of 40 estimates the largest |z| is compared with 4.4, which chance passes with a probability of 4e-4.
TEST(CalibrationMap, ALineIsFoundWithItsStandardErrors) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Cells cells = draw_cells(4000, seed, [](double x) { return -0.4 + 1.3 * x; });
    const auto line = fit_line(cells.logits, cells.outcomes, cells.weights);
    ASSERT_TRUE(line);
    EXPECT_LT(std::abs(line->slope() - 1.3) / std::sqrt(line->covariance[1][1]), 4.4);
    EXPECT_LT(std::abs(line->intercept() + 0.4) / std::sqrt(line->covariance[0][0]), 4.4);
    EXPECT_LT(std::sqrt(line->covariance[1][1]), 0.1);
  }
}

// Seed 3. The knots are near the bend, not at it: the map is off by at most 0.04, and the line by more.
TEST(CalibrationMap, BendsFollowWhereALineDoesNot) {
  const Cells cells = draw_cells(40000, 3, bent);
  const auto map = fit_map(cells.logits, cells.outcomes, cells.weights);
  const auto line = fit_line(cells.logits, cells.outcomes, cells.weights);
  ASSERT_TRUE(map && line);
  EXPECT_EQ(map->knots, 3u);
  double worst_of_line = 0, before = 0;
  for (double x = -5; x <= 3; x += 0.25) {
    const double p = probability_of_logit(x), right = probability_of_logit(bent(x));
    EXPECT_NEAR((*map)(p), right, 0.04);
    worst_of_line = std::max(worst_of_line, std::abs((*line)(p)-right));
    EXPECT_GT((*map)(p), before);  // it rises
    before = (*map)(p);
  }
  EXPECT_GT(worst_of_line, 0.05);
}

TEST(CalibrationMap, FewOnesHaveNoBends) {
  const Cells cells = draw_cells(60, 4, [](double x) { return x; });
  const auto map = fit_map(cells.logits, cells.outcomes, cells.weights);
  ASSERT_TRUE(map);
  EXPECT_LE(map->knots, 1u);
}

TEST(CalibrationMap, NothingWithoutAnEstimate) {
  const std::vector<double> logits{-2, -1, 1, 2}, weights{1, 1, 1, 1};
  using Outcomes = std::vector<std::uint8_t>;
  for (const Outcomes& outcomes : {Outcomes{0, 0, 0, 0}, Outcomes{1, 1, 1, 1}}) {
    EXPECT_FALSE(fit_map(logits, outcomes, weights));
    EXPECT_FALSE(fit_line(logits, outcomes, weights));
  }
  EXPECT_FALSE(fit_line(logits, Outcomes{0, 0, 1, 1}, weights));  // a threshold separates them
  EXPECT_LT(fit_line(logits, Outcomes{1, 1, 0, 1}, weights)->slope(), 0);
  const Cells falling = draw_cells(2000, 8, [](double x) { return -x; });
  EXPECT_FALSE(fit_map(falling.logits, falling.outcomes, falling.weights));
}

// Four cells do not move the map far from the one that changes nothing, even if a threshold separates them.
TEST(CalibrationMap, FewCellsChangeLittle) {
  const std::vector<double> logits{-2, -1, 1, 2}, weights{1, 1, 1, 1};
  const std::vector<std::uint8_t> outcomes{0, 0, 1, 1};
  const auto map = fit_map(logits, outcomes, weights);
  ASSERT_TRUE(map);
  EXPECT_GT(map->slope(), 1);
  EXPECT_LT(map->slope(), 1.5);
  EXPECT_NEAR(map->intercept(), 0, 1e-6);
}

// A map that is fitted to the other folds does not see a fold whose outcomes are turned around.
TEST(CalibrationMap, CrossFittingLeavesTheFoldOut) {
  Cells cells = draw_cells(5000, 5, [](double x) { return x; });
  for (std::size_t e = 0; e < cells.fold.size(); ++e)
    if (cells.fold[e] == 2) cells.outcomes[e] = 1 - cells.outcomes[e];
  const auto found = cross_fit(cells.logits, cells.outcomes, cells.weights, cells.fold, 5);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->of_fold.size(), 5u);
  EXPECT_NEAR(found->of_fold[2](0.05), 0.05, 0.02);
  EXPECT_GT(found->of_fold[0](0.05), 0.1);
}

// Seed 6: 20,000 maps. Their means and covariances are those of the estimates, within five standard errors.
TEST(CalibrationMap, DrawnMapsHaveTheCovarianceOfTheEstimates) {
  CalibrationMap map;
  map.knots = 1;
  map.knot[0] = 1;
  map.b = {0.2, 1.1, -0.3};
  map.covariance[0] = {0.04, 0.01, -0.01};
  map.covariance[1] = {0.01, 0.01, -0.006};
  map.covariance[2] = {-0.01, -0.006, 0.02};
  Stream stream(stream_key(6, 0, Purpose::simulate), 0, 1);
  constexpr int draws = 20000;
  double sum[3] = {}, products[3][3] = {};
  for (int d = 0; d < draws; ++d) {
    const CalibrationMap drawn = draw_map(
        map, [&] { return std::sqrt(-2 * std::log(stream.uniform())) * std::cos(2 * M_PI * stream.uniform()); });
    for (std::size_t i = 0; i < 3; ++i) {
      sum[i] += drawn.b[i] - map.b[i];
      for (std::size_t j = 0; j < 3; ++j) products[i][j] += (drawn.b[i] - map.b[i]) * (drawn.b[j] - map.b[j]);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(std::abs(sum[i] / draws), 5 * std::sqrt(map.covariance[i][i] / draws));
    for (std::size_t j = 0; j < 3; ++j) {
      const double both = map.covariance[i][i] * map.covariance[j][j] + std::pow(map.covariance[i][j], 2);
      EXPECT_LT(std::abs(products[i][j] / draws - map.covariance[i][j]), 5 * std::sqrt(both / draws));
    }
  }
  map.covariance[1][1] = 100;  // however uncertain, a drawn map rises
  for (int d = 0; d < 100; ++d) {
    const CalibrationMap drawn = draw_map(map, [&] { return 6 * stream.uniform() - 3; });
    EXPECT_GT(drawn.b[1], 0);
    EXPECT_GT(drawn.b[1] + drawn.b[2], 0);
  }
}

// Two chains, of two draws and of one: means 0.3 and 0.9.
TEST(ChainAverage, OfProbabilitiesAndOfLogits) {
  const std::vector<double> p{0.2, 0.4, 0.9};
  for (const bool logits : {false, true}) {
    const ChainDraws chains{{2, 3}, logits};
    const double right = logits ? probability_of_logit((logit_of(0.3) + logit_of(0.9)) / 2) : 1.5 / 3;
    EXPECT_NEAR(chains.combine([&](std::size_t d) { return p[d]; }), right, 1e-15);
    ChainAverage average(chains, 1);
    for (std::size_t d = 0; d < 3; ++d) {
      average.of_chain()[0] += p[d];
      average.end_of_draw(d, 0, 1);
    }
    EXPECT_EQ(average.of(0), chains.combine([&](std::size_t d) { return p[d]; }));
  }
  const ChainDraws found = ChainDraws::of(
      5, [](std::size_t d) { return d / 2; }, true);
  EXPECT_EQ(found.end, (std::vector<std::size_t>{2, 4, 5}));
}

}  // namespace
}  // namespace ztp
