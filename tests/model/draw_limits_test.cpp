// Draws at the ends of their range: what cannot be drawn is refused, and what nearly cannot is drawn well.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/random.hpp"
#include "model/distributions.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// None of these may run for ever.
TEST(DrawLimits, DrawsRefuseWhatTheyCannotDraw) {
  Stream stream(stream_key(1, 0, Purpose::counts), 0, 0);
  EXPECT_TRUE(std::isnan(draw_log_gamma(stream, std::nan(""))));
  EXPECT_TRUE(std::isnan(draw_log_gamma(stream, -1)));
  for (const double mean : {std::nan(""), 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(draw_poisson(stream, mean), Error);
    EXPECT_THROW(draw_zero_truncated_poisson(stream, mean), Error);
  }
  EXPECT_THROW(draw_binomial(stream, 100, std::nan("")), Error);
}

// Near the end of whole numbers counts still have the right mean and variance. 4000 draws each, seed 1; the mean is
// allowed 6 standard errors and the variance 20 % (9 of its standard errors): a false alarm has probability below 1e-7
// in all.
TEST(DrawLimits, LargeCountsAreDrawnWell) {
  const auto check = [](double mean, double variance, const std::function<std::int64_t(Stream&)>& draw) {
    constexpr int draws = 4000;
    Stream stream(stream_key(1, 0, Purpose::counts), 0, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      const double off = (static_cast<double>(draw(stream)) - mean) / std::sqrt(variance);
      sum += off;
      squares += off * off;
    }
    EXPECT_LT(std::abs(sum / std::sqrt(draws)), 6) << mean;
    EXPECT_NEAR(squares / draws, 1, 0.2) << mean;
  };
  for (const int bits : {31, 39, 43, 52, 61}) {
    const std::int64_t trials = std::int64_t{1} << bits;
    for (const double p : {0.25, 0.5, 0.75}) {
      const double n = static_cast<double>(trials);
      check(n * p, n * p * (1 - p), [&](Stream& stream) { return draw_binomial(stream, trials, p); });
    }
    const double mean = static_cast<double>(trials);
    check(mean, mean, [&](Stream& stream) { return draw_poisson(stream, mean); });
  }
}

}  // namespace
}  // namespace ztp
