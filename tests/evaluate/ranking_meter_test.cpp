// Ranking metrics and ties, worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "evaluate/ranking.hpp"

namespace ztp {
namespace {

RankingMetrics metrics_of(const std::vector<TiedOnes>& groups, const std::vector<std::uint32_t>& at) {
  return RankingMeter(at).query(groups).means();
}

TEST(RankingMeter, OneTestOneWithoutTies) {
  const RankingMetrics m = metrics_of({{1, 2, 0}}, {1, 2, 3, 10});  // third of all
  EXPECT_DOUBLE_EQ(m.mrr, 1.0 / 3);
  EXPECT_DOUBLE_EQ(m.mean_rank, 3);
  EXPECT_EQ(m.hits, (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(m.recall, (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(m.ndcg[1], 0);
  EXPECT_NEAR(m.ndcg[2], 0.5, 1e-15);  // 1 / log2(4)
  EXPECT_NEAR(m.ndcg[3], 0.5, 1e-15);
}

// Two rivals above and one with the same score: optimistic rank 3, pessimistic 4; place 3 or 4, each with probability
// 1/2.
TEST(RankingMeter, TieWithARival) {
  const RankingMetrics m = metrics_of({{1, 2, 1}}, {3, 4});
  EXPECT_DOUBLE_EQ(m.mrr, 1 / 3.5);
  EXPECT_EQ(m.hits, (std::vector<double>{0, 1}));
  EXPECT_EQ(m.recall, (std::vector<double>{0.5, 1}));
  EXPECT_NEAR(m.ndcg[0], 0.5 / std::log2(4.0), 1e-15);
  EXPECT_NEAR(m.ndcg[1], 0.5 / std::log2(4.0) + 0.5 / std::log2(5.0), 1e-15);
}

// The list is: test one, rival, test one. The other test one is no rival, but takes a place in the list.
TEST(RankingMeter, TwoTestOnes) {
  const RankingMetrics m = metrics_of({{1, 0, 0}, {1, 1, 0}}, {1, 2, 3});
  EXPECT_DOUBLE_EQ(m.mrr, (1 + 1.0 / 2) / 2);
  EXPECT_EQ(m.ranks, 2u);
  EXPECT_EQ(m.queries, 1u);
  EXPECT_EQ(m.hits, (std::vector<double>{0.5, 1, 1}));
  EXPECT_EQ(m.recall, (std::vector<double>{0.5, 0.5, 1}));  // divided by both test ones, also where k is 1
  const double ideal = 1 + 1 / std::log2(3.0);
  EXPECT_NEAR(m.ndcg[0], 1, 1e-15);
  EXPECT_NEAR(m.ndcg[1], 1 / ideal, 1e-15);
  EXPECT_NEAR(m.ndcg[2], (1 + 0.5) / ideal, 1e-15);
}

// Two test ones and two rivals with one score: 6 orders, all equally likely.
TEST(RankingMeter, TiesAreExpectations) {
  const RankingMetrics m = metrics_of({{2, 0, 2}}, {1, 2, 4});
  EXPECT_DOUBLE_EQ(m.mrr, 1.0 / 2);  // between 1 and 3
  EXPECT_EQ(m.hits, (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(m.recall, (std::vector<double>{0.25, 0.5, 1}));
  EXPECT_NEAR(m.ndcg[0], 0.5, 1e-15);
  EXPECT_NEAR(m.ndcg[1], 0.5, 1e-15);
}

TEST(RankingMeter, MeansWeighRanksAndQueries) {
  const RankingMeter meter({1});
  RankingSums sums = meter.query(std::vector<TiedOnes>{{3, 0, 0}});  // three ranks of 1; recall@1 is 1/3
  sums.add(meter.query(std::vector<TiedOnes>{{1, 1, 0}}));           // a rank of 2; recall@1 is 0
  const RankingMetrics m = sums.means();
  EXPECT_DOUBLE_EQ(m.mrr, (3 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(m.mean_rank, 5.0 / 4);
  EXPECT_DOUBLE_EQ(m.hits[0], 3.0 / 4);
  EXPECT_NEAR(m.recall[0], 1.0 / 6, 1e-15);
  EXPECT_NEAR(m.ndcg[0], 1.0 / 2, 1e-15);
}

// Entities 1, 4 and 6 are test ones, 4 and 7 known: 0, 2, 3 and 5 are rivals, two of which tie with a test one each.
TEST(TiedOnes, CountsRivalsAboveAndLevel) {
  std::vector<float> score = {0.5f, 0.5f, 0.9f, 0.2f, 0.2f, 0.3f, 0.5f, 0.8f};
  const std::vector<std::uint32_t> tests = {1, 4, 6}, known = {4, 7};
  const std::vector<TiedOnes> groups = tied_ones(score, tests, known);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].ones, 2u);   // 1 and 6
  EXPECT_EQ(groups[0].above, 1u);  // 2
  EXPECT_EQ(groups[0].equal, 1u);  // 0
  EXPECT_EQ(groups[1].ones, 1u);   // 4
  EXPECT_EQ(groups[1].above, 3u);  // 0, 2 and 5
  EXPECT_EQ(groups[1].equal, 1u);  // 3
}

// The same entities in blocks of three; a block may have neither tests nor known ones.
TEST(TiedOnes, AreTheSameBlockByBlock) {
  const std::vector<float> score = {0.5f, 0.5f, 0.9f, 0.2f, 0.2f, 0.3f, 0.5f, 0.8f, 0.1f, 0.5f, 0.7f};
  const std::vector<std::uint32_t> tests = {1, 4, 6}, known = {4, 7};
  std::vector<float> all = score;
  const std::vector<TiedOnes> wanted = tied_ones(all, tests, known);
  Standings standings({score[1], score[4], score[6]});
  for (std::size_t first = 0; first < score.size(); first += 3) {
    std::vector<float> block(score.begin() + static_cast<std::ptrdiff_t>(first),
                             score.begin() + static_cast<std::ptrdiff_t>(std::min(first + 3, score.size())));
    standings.add(block, first, tests, known);
  }
  const std::vector<TiedOnes> groups = standings.finish();
  ASSERT_EQ(groups.size(), wanted.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_EQ(groups[i].ones, wanted[i].ones);
    EXPECT_EQ(groups[i].above, wanted[i].above);
    EXPECT_EQ(groups[i].equal, wanted[i].equal);
  }
}

TEST(TiedOnes, ScoresTooSmallForFloatsAreEqual) {
  std::vector<float> score = {0, 1e-26f, 1e-30f, 1e-24f};
  const std::vector<TiedOnes> groups = tied_ones(score, std::vector<std::uint32_t>{2}, {});
  EXPECT_EQ(groups[0].above, 1u);
  EXPECT_EQ(groups[0].equal, 2u);
}

}  // namespace
}  // namespace ztp
