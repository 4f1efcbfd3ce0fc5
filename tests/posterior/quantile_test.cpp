// Quantiles of draws, by hand.
#include "posterior/quantile.hpp"

#include <gtest/gtest.h>

namespace ztp {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const float values[] = {1, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(values, 3, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile(values, 3, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 1, 0.05), 1);
}

}  // namespace
}  // namespace ztp
