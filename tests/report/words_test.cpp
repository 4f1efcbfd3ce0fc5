// Numbers as the page gets them, in data and in sentences.
#include <gtest/gtest.h>

#include <limits>

#include "evaluate/number_words.hpp"
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

TEST(WordsTest, SharesOfASentenceHaveTheSameUnitAndDigits) {
  using Texts = std::vector<std::string>;
  const auto texts = [](const std::vector<double>& shares) {
    Texts result = percents(shares);
    for (std::string& text : result)
      if (const std::size_t space = text.find("\u00a0%"); space != std::string::npos) text.replace(space, 3, "%");
    return result;
  };
  EXPECT_EQ(percent(0.28), "28\u00a0%");  // a space that does not break
  EXPECT_EQ(texts({0.05}), (Texts{"5.0%"}));
  EXPECT_EQ(texts({0}), (Texts{"0%"}));
  EXPECT_EQ(texts({1}), (Texts{"100%"}));
  EXPECT_EQ(texts({0.31, 0.304, 0.28, 0.33}), (Texts{"31%", "30%", "28%", "33%"}));
  EXPECT_EQ(texts({0.094, 0.106}), (Texts{"9.4%", "10.6%"}));
  EXPECT_EQ(texts({0.09951, 0.123}), (Texts{"10%", "12%"}));
  EXPECT_EQ(texts({0.997, 0.982, 1}), (Texts{"99.7%", "98.2%", "100.0%"}));
  EXPECT_EQ(texts({0.62, 0.05, 0.0012}), (Texts{"62%", "5.0%", "0.12%"}));
  EXPECT_EQ(texts({0.000999, 0.0005}), (Texts{"0.100%", "0.050%"}));
  EXPECT_EQ(texts({0.00001, 0}), (Texts{"0.0010%", "0%"}));
  EXPECT_EQ(texts({0.0000099, 0.00015, 0.4, 0}), (Texts{"1 in 100,000", "1 in 6,700", "1 in 2.5", "0"}));
  EXPECT_EQ(grouped(1261750), "1,261,750");
  EXPECT_EQ(grouped(999), "999");
}

}  // namespace
}  // namespace ztp
