// Numbers as the page gets them, in data and in sentences.
#include "report/words.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "report/numbers.hpp"

namespace ztp {
namespace {

TEST(NumbersTest, HaveAsManyDigitsAsAskedForAndNoMore) {
  const auto text = [](double value, int digits = 6) { return number(value, digits).dump(); };
  EXPECT_EQ(text(0.123456789), "0.123457");
  EXPECT_EQ(text(123456.789, precise), "123456.789");
  EXPECT_EQ(text(3), "3");
  EXPECT_EQ(text(-0.0), "0");
  EXPECT_EQ(text(1234567), "1234570");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "\"-inf\"");
}

// JavaScript has no integers beyond 2^53: they are numbers of few digits, not long ones whose last digits are made up.
TEST(NumbersTest, LargeOnes) {
  for (const double value : {1e15, 9007199254740993.0, 1.2345678e18, 2e19, 1.7e308}) {
    const Json json = number(value);
    EXPECT_TRUE(json.is_number_float()) << value;
    EXPECT_NEAR(json.get<double>() / value, 1, 1e-5);
    EXPECT_LE(json.dump().size(), 12u) << json.dump();
  }
  EXPECT_EQ(number(999999999999999, 15).dump(), "999999999999999");
}

}  // namespace
}  // namespace ztp
