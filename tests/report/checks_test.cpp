// Posterior predictive checks: what is counted, and that each check finds the wrong model that it is there for. All
// data, fits and replicates are functions of their seeds. A number of a right model is far outside with probability
// 6e-5 (checks.cpp): the false alarm of a test below, for each number that must not be far. That a wrong model passes
// has no exact probability. With ten other seeds, all pairs of wrong models were far outside, by two or more times the
// range of the replicates, and none of a right model was. Shares inside of a band are not compared closely, since the
// points of a curve depend on each other.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.hpp"
#include "report/data_statistics.hpp"
#include "report_run.hpp"
#include "temp_dir.hpp"

namespace ztp {
namespace {

CellSource source_of(const std::vector<std::uint32_t>& cells, std::size_t K) {
  return [&cells, K](const UseOnes& use) {  // in two chunks
    const std::size_t ones = cells.size() / K, first = ones / 2;
    use(cells.data(), nullptr, first);
    use(cells.data() + first * K, nullptr, ones - first);
  };
}

// Of mode 0, entities 0 and 1 share the contexts (0, 0) and (1, 2), entities 1 and 2 share (1, 2), and so do 0 and 2.
// Mode 2 is in the order 2, 0, 1. One cell is there three times, as a count is.
TEST(Statistics, OfAFewCells) {
  const std::vector<std::uint32_t> cells = {0, 0, 0, 1, 0, 0, 0, 1, 2, 1, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 0, 0, 1};
  const StatisticsPlan plan{{3, 2, 3}, {1, 1, 1}, {{2, {1, 2, 0}, 1}}};
  Pool one(1), two(2);
  const DataStatistics found = statistics_of(source_of(cells, 3), plan, one);
  EXPECT_EQ(found.degrees[0], (Histogram{{2, 1}, {3, 2}}));  // the sum of counts
  EXPECT_EQ(found.pairs[0], (Histogram{{1, 2}, {2, 1}}));
  EXPECT_EQ(found.pairs[1], (Histogram{{0, 1}}));
  EXPECT_EQ(found.pairs[2], (Histogram{{0, 2}, {1, 1}}));  // 0 and 1 share (0, 0)
  // Contexts (person, item) and their places: (0, 0) 1 2, (1, 0) 1, (0, 1) 0, (1, 1) 0, (2, 1) 0.
  EXPECT_EQ(found.changes[0].stay, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(found.changes[0].appear, (std::vector<std::uint64_t>{2, 0}));
  EXPECT_EQ(found.changes[0].disappear, (std::vector<std::uint64_t>{3, 1}));
  const DataStatistics again = statistics_of(source_of(cells, 3), plan, two);
  EXPECT_EQ(found.pairs, again.pairs);
}

// Every cell of 300 x 40 x 50 is a one: each of 200 entities shares every sampled context with each other.
TEST(Statistics, CostIsBounded) {
  std::vector<std::uint32_t> cells;
  for (std::uint32_t a = 0; a < 300; ++a)
    for (std::uint32_t b = 0; b < 40; ++b)
      for (std::uint32_t c = 0; c < 50; ++c) cells.insert(cells.end(), {a, b, c});
  const double share = share_of_contexts(200 * 40 * 50);
  EXPECT_EQ(share, 0.25);
  EXPECT_EQ(share_of_contexts(100'000), 1);
  EXPECT_EQ(share_of_contexts(0), 1);
  Pool pool(2);
  const DataStatistics found = statistics_of(source_of(cells, 3), {{300, 40, 50}, {share, 0, 1}, {}}, pool);
  ASSERT_EQ(found.pairs[0].size(), 1u);
  EXPECT_EQ(found.pairs[0][0].second, 200u * 199 / 2);
  // 2,000 contexts, each with probability 0.25; six standard deviations.
  EXPECT_NEAR(static_cast<double>(found.pairs[0][0].first), 500, 6 * std::sqrt(2000 * 0.25 * 0.75));
  EXPECT_EQ(found.pairs[1], (Histogram{{0, 40 * 39 / 2}}));
  EXPECT_EQ(found.pairs[2], (Histogram{{300 * 40, 50 * 49 / 2}}));
}

using Rate = std::function<double(const std::uint32_t* cell)>;

// Each cell by itself, with the probability of the model.
Dataset draw_data(const std::vector<Mode>& modes, std::uint64_t seed, const Rate& rate) {
  Dataset data;
  data.tensor.modes = modes;
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  const std::vector<std::uint32_t> sizes = data.tensor.sizes();
  std::vector<std::uint32_t> cell(sizes.size(), 0);
  for (std::size_t k = 0; k < sizes.size();) {
    if (stream.uniform() < -std::expm1(-rate(cell.data()))) data.tensor.coords.append(cell.data(), cell.size());
    for (k = 0; k < sizes.size() && ++cell[k] == sizes[k]; ++k) cell[k] = 0;
  }
  data.tensor.sort_and_merge();
  return data;
}

Json checks_of(Dataset data, std::uint64_t rank) {
  test::TempDir dir;
  FitOptions options;
  options.rank = rank;
  options.sweeps = 300;
  options.chains = 1;
  options.seed = 5;
  options.threads = 1;
  fit(std::move(data), options, dir / "run");
  const ReportOptions report = test::report_options();
  return checks_section(*test::source_of(dir / "run", report));
}

// Entities of three blocks, whose activities differ by a factor of six. Ones are within a block.
Rate blocks(std::size_t K, double rate) {
  return [K, rate](const std::uint32_t* cell) {
    double z = rate;
    for (std::size_t k = 0; k < K; ++k) {
      if (cell[k] % 3 != cell[0] % 3) return 0.0;
      z *= std::exp(std::log(6) * (cell[k] * 7 % 20 / 20.0 - 0.5));
    }
    return z;
  };
}

const std::vector<Mode> block_modes = {{"user", LabelTable::numbered(1, 60)},
                                       {"item", LabelTable::numbered(1, 60)},
                                       {"shop", LabelTable::numbered(1, 60)}};

// Seed 11. A model of rank one has the right degrees, but spreads the ones over cells between blocks, so that entities
// meet less.
TEST(Checks, PairsFindARankThatIsTooSmall) {
  const Json checks = checks_of(draw_data(block_modes, 11, blocks(3, 0.15)), 1);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_GT(checks["degrees"][k]["inside"].get<double>(), 0.5) << checks["degrees"][k];
    for (const char* statistic : {"shared", "closest"}) {
      const Json& found = checks["pairs"][k][statistic];
      EXPECT_EQ(found["place"], "far") << found;
      EXPECT_GT(found["observed"].get<double>(), found["high"].get<double>());
    }
    EXPECT_LT(checks["pairs"][k]["curve"]["inside"].get<double>(), 0.3);
  }
}

TEST(Checks, PairsPassARankThatIsLargeEnough) {
  const Json checks = checks_of(draw_data(block_modes, 11, blocks(3, 0.15)), 5);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_GT(checks["degrees"][k]["inside"].get<double>(), 0.5);
    for (const char* statistic : {"shared", "closest"})
      EXPECT_NE(checks["pairs"][k][statistic]["place"], "far") << checks["pairs"][k][statistic];
    EXPECT_GT(checks["pairs"][k]["curve"]["inside"].get<double>(), 0.5);
  }
}

// Seed 12. In a matrix, how many contexts are shared in all follows from the degrees of the other mode. Who shares them
// does not.
TEST(Checks, PairsFindARankThatIsTooSmallOfAMatrix) {
  const std::vector<Mode> modes = {{"user", LabelTable::numbered(1, 120)}, {"item", LabelTable::numbered(1, 120)}};
  for (const std::uint64_t rank : {1, 4}) {
    const Json checks = checks_of(draw_data(modes, 12, blocks(2, 0.5)), rank);
    for (const Json& mode : checks["pairs"]) EXPECT_EQ(mode["closest"]["place"] == "far", rank == 1) << mode["closest"];
  }
}

const std::vector<Mode> membership_modes = {{"person", LabelTable::numbered(1, 40)},
                                            {"club", LabelTable::numbered(1, 20)},
                                            {"year", LabelTable::numbered(1, 24)}};

// Seed 13. Half of the persons of two groups enter each club of theirs in some year, and stay to some later one.
TEST(Checks, ChangesFindThatMembershipsLast) {
  Dataset data;
  data.tensor.modes = membership_modes;
  Stream stream(stream_key(13, 0, Purpose::simulate), 0, 0);
  for (std::uint32_t person = 0; person < 40; ++person)
    for (std::uint32_t club = person % 2; club < 20; club += 2) {
      if (stream.uniform() < 0.5) continue;
      const auto from = static_cast<std::uint32_t>(24 * stream.uniform());
      const std::uint32_t end = from + 1 + static_cast<std::uint32_t>((24 - from) * stream.uniform());
      for (std::uint32_t year = from; year < std::min(end, 24u); ++year) {
        const std::uint32_t cell[] = {person, club, year};
        data.tensor.coords.append(cell, 3);
      }
    }
  const Json checks = checks_of(std::move(data), 4);
  ASSERT_EQ(checks["changes"].size(), 1u);
  const Json& changes = checks["changes"][0];
  EXPECT_EQ(changes["mode"], 2);
  EXPECT_EQ(changes["steps"]["observed"].size(), 23u);
  for (const char* statistic : {"stay", "appear", "disappear", "changes"})
    EXPECT_EQ(changes[statistic]["place"], "far") << statistic << " " << changes[statistic];
  EXPECT_LT(changes["changes"]["observed"], changes["changes"]["low"]);
  EXPECT_GT(changes["stay"]["observed"], changes["stay"]["high"]);
  EXPECT_LT(changes["steps"]["inside"].get<double>(), 0.3);
}

// Seed 14. The same groups and clubs, but every year by itself, as the model says.
TEST(Checks, ChangesPassCellsThatAreIndependent) {
  const auto rate = [](const std::uint32_t* cell) { return cell[0] % 2 == cell[1] % 2 ? 0.2 : 0.001; };
  const Json checks = checks_of(draw_data(membership_modes, 14, rate), 4);
  ASSERT_EQ(checks["changes"].size(), 1u);
  for (const char* statistic : {"stay", "appear", "disappear", "changes"})
    EXPECT_NE(checks["changes"][0][statistic]["place"], "far") << statistic << " " << checks["changes"][0][statistic];
  EXPECT_GT(checks["changes"][0]["steps"]["inside"].get<double>(), 0.5);
}

}  // namespace
}  // namespace ztp
