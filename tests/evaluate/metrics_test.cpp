// Metrics of predictions, worked out by hand.
#include "ztp/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

// Forty cells in two groups of ties: in each the share of ones differs from the probability by a known amount.
TEST(Metrics, CalibrationErrorKeepsTiesTogether) {
  std::vector<std::pair<double, bool>> cells;
  for (int i = 0; i < 20; ++i) cells.emplace_back(0.25, i < 10);  // off by 0.25
  for (int i = 0; i < 20; ++i) cells.emplace_back(0.75, i < 15);  // exact
  EXPECT_NEAR(metrics_of(cells).calibration_error, 0.125, 1e-12);
}

}  // namespace
}  // namespace ztp
