// Curves of test cells against the metrics that they are drawn for.
#include "evaluate/curves.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"

namespace ztp {
namespace {

constexpr std::size_t every_point = 10'000'000;

// Seed 5. Probabilities with many ties, and outcomes that follow them more or less.
MetricsCollector some_cells(std::size_t count, double levels) {
  MetricsCollector cells;
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, 0);
  for (std::size_t e = 0; e < count; ++e) {
    const double p = std::round(levels * std::pow(stream.uniform(), 3)) / levels;
    cells.add(p, stream.uniform() < 0.1 + 0.6 * p);
  }
  return cells;
}

double trapezoids(const Curve& curve) {
  double area = 0;
  for (std::size_t i = 1; i < curve.size(); ++i)
    area += (curve[i].first - curve[i - 1].first) * (curve[i].second + curve[i - 1].second) / 2;
  return area;
}

// Average precision: each step in recall times the precision at its end.
double steps(const Curve& curve) {
  double area = 0;
  for (std::size_t i = 1; i < curve.size(); ++i) area += (curve[i].first - curve[i - 1].first) * curve[i].second;
  return area;
}

TEST(Curves, HaveTheAreasOfTheMetrics) {
  for (const double levels : {7.0, 1e3, 1e9}) {
    MetricsCollector cells = some_cells(20000, levels);
    const Metrics metrics = cells.finish();
    EXPECT_NEAR(trapezoids(roc_curve(cells, every_point)), metrics.auc_roc, 1e-12) << levels;
    EXPECT_NEAR(trapezoids(roc_curve(cells, 400)), metrics.auc_roc, 1e-3) << levels;
    EXPECT_NEAR(steps(precision_curve(cells, every_point)), metrics.auc_pr, 1e-12) << levels;
    EXPECT_NEAR(steps(precision_curve(cells, 400)), metrics.auc_pr, 5e-3) << levels;
  }
}

TEST(Curves, AreShortAndGoFromEndToEnd) {
  MetricsCollector cells = some_cells(50000, 1e9);
  const Curve roc = roc_curve(cells, 400), precision = precision_curve(cells, 400);
  EXPECT_LE(roc.size(), 400u);
  EXPECT_GE(roc.size(), 300u);
  EXPECT_EQ(roc.front(), std::pair(0.0, 0.0));
  EXPECT_EQ(roc.back(), std::pair(1.0, 1.0));
  EXPECT_LE(precision.size(), 400u);
  EXPECT_GE(precision.size(), 300u);
  EXPECT_EQ(precision.front().first, 0);
  EXPECT_EQ(precision.back().first, 1);
  const Metrics metrics = cells.finish();
  EXPECT_NEAR(precision.back().second, static_cast<double>(metrics.ones) / 50000, 1e-12);
  for (std::size_t i = 1; i < roc.size(); ++i)
    EXPECT_TRUE(roc[i].first >= roc[i - 1].first && roc[i].second >= roc[i - 1].second);
  for (std::size_t i = 1; i < precision.size(); ++i) EXPECT_GE(precision[i].first, precision[i - 1].first);
}

TEST(Curves, OfCellsThatAreAllAlike) {
  MetricsCollector ones, zeros, equal, nothing;
  ones.add(0.5, true);
  zeros.add(0.5, false);
  equal.add(0.5, true);
  equal.add(0.5, false);
  EXPECT_TRUE(roc_curve(ones, 400).empty() && roc_curve(zeros, 400).empty() && roc_curve(nothing, 400).empty());
  EXPECT_TRUE(precision_curve(zeros, 400).empty() && precision_curve(nothing, 400).empty());
  EXPECT_EQ(roc_curve(equal, 400), (Curve{{0, 0}, {1, 1}}));
  EXPECT_EQ(precision_curve(equal, 400), (Curve{{0, 0.5}, {1, 0.5}}));
}

// The bins are those of the calibration error, whatever is asked for after it.
TEST(Curves, CalibrationBinsMakeTheCalibrationError) {
  MetricsCollector cells = some_cells(5000, 1e9);
  const Metrics metrics = cells.finish();
  const std::vector<CalibrationBin> bins = cells.calibration_bins();
  EXPECT_EQ(bins.size(), 20u);
  double error = 0, ones = 0;
  for (const CalibrationBin& bin : bins) {
    EXPECT_EQ(bin.ones + bin.zeros, 250u);
    error += std::abs(static_cast<double>(bin.ones) - bin.probability) / 5000;
    ones += static_cast<double>(bin.ones);
  }
  EXPECT_DOUBLE_EQ(error, metrics.test_calibration_error);
  EXPECT_EQ(ones, static_cast<double>(metrics.ones));
  // Of the tensor: as much room for the ones as for the zeros.
  const double small = ones / (5000 - ones);
  for (const CalibrationBin& bin : cells.calibration_bins(true))
    EXPECT_NEAR(static_cast<double>(bin.ones) + small * static_cast<double>(bin.zeros), 2 * ones / 20, 1.01);
}

TEST(Curves, WilsonsIntervalByHand) {
  const auto [low, high] = wilson_interval(3, 10);  // z = 1.645: the roots of (x - 0.3)^2 = z^2 x (1 - x) / 10
  for (const double x : {low, high}) EXPECT_NEAR(std::pow(x - 0.3, 2), 2.705543454 * x * (1 - x) / 10, 1e-9);
  EXPECT_LT(low, 0.3);
  EXPECT_GT(high, 0.3);
  EXPECT_EQ(wilson_interval(0, 50).first, 0);
  EXPECT_NEAR(wilson_interval(0, 50).second, 2.705543454 / 52.705543454, 1e-9);
  EXPECT_EQ(wilson_interval(50, 50).second, 1);
  EXPECT_EQ(wilson_interval(0, 0), std::pair(0.0, 1.0));
}

}  // namespace
}  // namespace ztp
