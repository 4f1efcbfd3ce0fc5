#include "report/rank_plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "statistics.hpp"

namespace ztp {
namespace {

TEST(RankPlot, ByHand) {
  // Ranks 1 to 4 of 4: a half less and times 20 / 4, bins 2, 7, 12, 17.
  const auto bins = rank_plot({{1, 4}, {2, 3}});
  EXPECT_EQ(bins[0][2] + bins[0][17], 2u);
  EXPECT_EQ(bins[1][7] + bins[1][12], 2u);
}

TEST(RankPlot, EqualDrawsShareARank) {
  const auto bins = rank_plot({{5, 5, 5}, {5, 5, 5}});
  EXPECT_EQ(bins[0][10], 3u);
  EXPECT_EQ(bins[1][10], 3u);
  EXPECT_TRUE(rank_plot({}).empty());
  EXPECT_EQ(rank_plot({{}}), (std::vector<std::vector<std::uint64_t>>{std::vector<std::uint64_t>(20, 0)}));
}

// Seed 11. A p-value below 1e-4 for one of four chains: a false alarm of at most 4e-4. A chain that lies
// elsewhere must be seen.
TEST(RankPlot, OfIndependentDrawsIsEven) {
  Stream stream(stream_key(11, 0, Purpose::simulate), 0, 0);
  DrawsOfChains draws(4, std::vector<double>(1000));
  for (auto& chain : draws)
    for (double& value : chain) value = -std::log(stream.uniform());
  const std::vector<double> expected(20, 50.0);
  const auto p_value = [&](const std::vector<std::uint64_t>& bins) {
    EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), std::uint64_t{0}), 1000u);
    return test::chi_squared_p(expected, std::vector<double>(bins.begin(), bins.end()));
  };
  for (const auto& bins : rank_plot(draws)) EXPECT_GT(p_value(bins), 1e-4);
  for (double& value : draws[2]) value *= 1.5;
  EXPECT_LT(p_value(rank_plot(draws)[2]), 1e-4);
}

}  // namespace
}  // namespace ztp
