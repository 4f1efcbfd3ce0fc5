// Metrics of predictions, worked out by hand.
#include "ztp/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace ztp {
namespace {

Metrics metrics_of(const std::vector<std::pair<double, bool>>& cells) {
  MetricsCollector collector;
  for (const auto& [p, one] : cells) collector.add(p, one);
  return collector.finish();
}

TEST(Metrics, PerfectAndReversedRanking) {
  EXPECT_DOUBLE_EQ(metrics_of({{0.1, false}, {0.2, false}, {0.9, true}}).auc_roc, 1);
  EXPECT_DOUBLE_EQ(metrics_of({{0.1, true}, {0.2, false}, {0.9, false}}).auc_roc, 0);
}

// Scores 0.5 0.5 0.5 | 0.8 0.9: ones at 0.5, 0.5 and 0.9. Of the 3 x 2 pairs: 0.9 beats both zeros, each 0.5 ties with
// the zero at 0.5 and loses to the zero at 0.8: (2 + 2 * 0.5) / 6.
TEST(Metrics, TiesCountHalf) {
  const Metrics m = metrics_of({{0.5, true}, {0.5, false}, {0.8, false}, {0.5, true}, {0.9, true}});
  EXPECT_DOUBLE_EQ(m.auc_roc, 0.5);
  // Thresholds 0.9: precision 1, recall 1/3; 0.8: recall stays; 0.5: precision 3/5, recall 1.
  EXPECT_NEAR(m.auc_pr, 1.0 / 3 + 2.0 / 3 * 0.6, 1e-15);
  EXPECT_EQ(m.ones, 3u);
  EXPECT_EQ(m.zeros, 2u);
}

TEST(Metrics, LossesByHandAndClamped) {
  const Metrics m = metrics_of({{0.25, true}, {0.5, false}});
  EXPECT_NEAR(m.log_loss, (std::log(4.0) + std::log(2.0)) / 2, 1e-15);
  EXPECT_NEAR(m.brier, (0.5625 + 0.25) / 2, 1e-15);
  EXPECT_NEAR(metrics_of({{0.0, true}}).log_loss, -std::log(1e-12), 1e-9);
  EXPECT_NEAR(metrics_of({{1.0, false}}).log_loss, -std::log(1e-12), 1e-3);
  EXPECT_TRUE(std::isnan(metrics_of({{0.5, true}}).auc_roc));
}

// A one at 0.5, and a zero at 0.25 that stands for three; a second zero at 0.75 is no test cell, and stands for two.
TEST(Metrics, WeightedScoresAreOfTheTensor) {
  MetricsCollector collector;
  collector.add(0.5, true);
  collector.add(0.25, false, 3);
  collector.add(0.75, false, 2, false);
  const Metrics m = collector.finish();
  EXPECT_NEAR(m.log_loss, (std::log(2.0) - 3 * std::log(0.75) - 2 * std::log(0.25)) / 6, 1e-15);
  EXPECT_NEAR(m.brier, (0.25 + 3 * 0.0625 + 2 * 0.5625) / 6, 1e-15);
  const double constant = -(std::log(1.0 / 6) + 5 * std::log(5.0 / 6)) / 6;
  EXPECT_NEAR(m.skill, 1 - m.log_loss / constant, 1e-14);
  EXPECT_NEAR(m.test_log_loss, (std::log(2.0) - std::log(0.75)) / 2, 1e-15);
  EXPECT_NEAR(m.test_brier, (0.25 + 0.0625) / 2, 1e-15);
  EXPECT_DOUBLE_EQ(m.auc_roc, 1);  // of the test cells alone
  EXPECT_EQ(m.zeros, 1u);
  EXPECT_DOUBLE_EQ(m.zero_weight, 2.5);
  collector.weigh_zeros(2);
  EXPECT_NEAR(collector.finish().log_loss, (std::log(2.0) - 6 * std::log(0.75) - 4 * std::log(0.25)) / 11, 1e-15);
}

// Probabilities whose logits are half of what is right have a slope of 2. Cells come in groups with the exact share of
// ones: 1 / 17, 1 / 2 and 16 / 17 at the logits -log 4, 0 and log 4.
TEST(Metrics, TheSlopeTellsModestProbabilities) {
  std::vector<std::pair<double, bool>> cells;
  for (const auto& [p, ones, of] : {std::tuple{0.2, 1, 17}, {0.5, 8, 16}, {0.8, 16, 17}})
    for (int i = 0; i < of; ++i) cells.emplace_back(p, i < ones);
  const Metrics m = metrics_of(cells);
  EXPECT_NEAR(m.calibration_slope, 2, 1e-9);
  EXPECT_NEAR(m.calibration_intercept, 0, 1e-9);
  EXPECT_TRUE(std::isnan(metrics_of({{0.1, false}, {0.2, true}}).calibration_slope));  // a threshold separates them
}

// Forty cells in two groups of ties: in each the share of ones differs from the probability by a known amount.
TEST(Metrics, CalibrationErrorKeepsTiesTogether) {
  std::vector<std::pair<double, bool>> cells;
  for (int i = 0; i < 20; ++i) cells.emplace_back(0.25, i < 10);  // off by 0.25
  for (int i = 0; i < 20; ++i) cells.emplace_back(0.75, i < 15);  // exact
  EXPECT_NEAR(metrics_of(cells).test_calibration_error, 0.125, 1e-12);
}

}  // namespace
}  // namespace ztp
