// Ranking of whole runs against a naive one in double precision, and the scores and the memory that it uses. The
// metrics by hand: ranking_meter_test.cpp.
#include "evaluate/ranking.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "base/random.hpp"
#include "kernel/cpu/candidate_scores.hpp"
#include "kernel/host_arrays.hpp"
#include "store/draws_file.hpp"
#include "targets.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace {

using cpu::plan_ranking, cpu::RankingPlan;
using test::TempDir;
using Cell = std::vector<std::uint32_t>;

TEST(RankingPlan, StaysWithinItsMemory) {
  for (const std::size_t n : {1u, 31u, 14541u, 1000000u, 20000000u})
    for (const std::size_t R : {1u, 50u, 200u})
      for (const std::size_t memory : {1u, 1u << 20, 256u << 20}) {
        const RankingPlan plan = plan_ranking(n, R, 20466, 100, memory);
        const std::size_t row = (n + 31) / 32 * 32 * 4;
        EXPECT_EQ(plan.queries % 8, 0u);
        EXPECT_TRUE(plan.queries == 8 || plan.queries * (row + 4 * R) <= memory) << n << " " << R << " " << memory;
        EXPECT_TRUE(plan.draws == 1 || plan.draws * (row * R + 4 * R * plan.queries) <= (64u << 20)) << n << " " << R;
        EXPECT_GE(plan.draws, 1u);
        EXPECT_LE(plan.queries, 20472u);
      }
  EXPECT_EQ(plan_ranking(14541, 100, 20466, 100, 256u << 20).queries,
            4576u);  // 268,435,456 / (58,240 + 404), down to a multiple of 8
}

// A run of a random tensor of order K whose last entities have no ones; test and filter ones in files.
struct Example {
  Example(std::size_t K, double dirichlet) : order(K) {
    Dataset data;
    for (std::size_t k = 0; k < K; ++k)
      data.tensor.modes.push_back(
          {fmt::format("m{}", k + 1), LabelTable::numbered(1, static_cast<std::uint32_t>(40 - 7 * k))});
    Stream stream(stream_key(11, 0, Purpose::simulate), 0, K);
    std::set<Cell> cells;
    while (cells.size() < (K == 2 ? 120 : 400)) {
      Cell cell;
      const std::uint64_t block = stream.below(3);
      for (std::size_t k = 0; k < K; ++k)
        cell.push_back(
            static_cast<std::uint32_t>(3 * stream.below(5) + (stream.uniform() < 0.8 ? block : stream.below(3))));
      cells.insert(cell);
    }
    std::ofstream test(dir / "test.tsv"), filter(dir / "filter.tsv");
    for (const Cell& cell : cells) {
      const std::uint64_t part = stream.below(10);
      if (part < 2) {
        write(test, cell, "\t1\n");
        tests.insert(cell);
      } else if (part < 3) {
        write(filter, cell, "\n");
        filtered.insert(cell);
      } else {
        data.tensor.coords.append(cell.data(), K);
        trained.insert(cell);
      }
    }
    // An entity without data, and zeros, which are ignored.
    const Cell unseen(K, 18);
    tests.insert(unseen);
    write(test, unseen, "\t1\n");
    write(test, Cell(K, 0), "\t0\n");
    data.tensor.sort_and_merge();
    FitOptions options;
    options.rank = 5;
    options.sweeps = 24;
    options.keep_every = 2;
    options.chains = 2;
    options.threads = 1;
    options.dirichlet = {std::to_string(dirichlet)};
    fit(std::move(data), options, dir / "run");
  }
  static void write(std::ofstream& file, const Cell& cell, const char* end) {
    for (std::size_t k = 0; k < cell.size(); ++k) file << (k == 0 ? "" : "\t") << cell[k] + 1;
    file << end;
  }

  std::size_t order;
  TempDir dir;
  std::set<Cell> trained, tests, filtered;
};

// Mean probabilities in double precision, straight from the file of draws; sums below 1e-25 are equal.
std::vector<double> naive_scores(const Example& example, Cell cell, std::size_t mode,
                                 const std::vector<std::size_t>& draws) {
  const RunInfo info = run_info(example.dir / "run");
  const DrawsFile file(example.dir / "run", info);
  HostArrays arrays;
  State state = file.make_state(arrays);
  std::vector<double> mean(info.modes[mode].size, 0.0);
  for (const std::size_t i : draws) {
    file.load(i, state);
    for (cell[mode] = 0; cell[mode] < mean.size(); ++cell[mode]) {
      double z = 0;
      for (std::size_t r = 0; r < state.layout.components(); ++r) {
        double product = std::exp(state.tensor.log_weight[r]);
        for (std::size_t k = 0; k < example.order; ++k)
          product *= static_cast<double>(values_of(state.of_mode(k)).row(cell[k])[r]) / info.modes[k].size;
        z += product;
      }
      mean[cell[mode]] -= std::expm1(-z) / static_cast<double>(draws.size());
    }
  }
  for (double& value : mean)
    if (value * static_cast<double>(draws.size()) < 1e-25) value = 0;
  return mean;
}

struct Seen {
  bool near = false;     // a test one and a rival that floats could not tell apart
  std::size_t ties = 0;  // of test ones with rivals
};

// Ranks by the definition: MRR and Hits of one test one after the other; recall and NDCG from the list of a query, with
// the places of equal scores shared out.
RankingMetrics naive_ranking(const Example& example, std::size_t mode, const std::vector<std::size_t>& draws,
                             const std::vector<std::uint32_t>& at, bool with_filter, Seen& seen) {
  std::map<Cell, std::vector<std::uint32_t>> queries;
  for (Cell cell : example.tests) {
    const std::uint32_t entity = cell[mode];
    cell[mode] = 0;
    queries[cell].push_back(entity);
  }
  RankingMetrics m;
  for (auto* values : {&m.hits, &m.recall, &m.ndcg}) values->assign(at.size(), 0.0);
  for (auto& [query, tests] : queries) {
    const std::vector<double> score = naive_scores(example, query, mode, draws);
    std::vector<std::uint32_t> list;  // rivals and test ones
    for (std::uint32_t j = 0; j < score.size(); ++j) {
      Cell cell = query;
      cell[mode] = j;
      const bool known = example.trained.count(cell) != 0 || (with_filter && example.filtered.count(cell) != 0);
      if (!known || example.tests.count(cell) != 0) list.push_back(j);
    }
    for (const std::uint32_t t : tests) {
      double better = 0, equal = 0;
      for (const std::uint32_t j : list) {
        if (std::find(tests.begin(), tests.end(), j) != tests.end()) continue;
        better += score[j] > score[t];
        equal += score[j] == score[t];
        seen.ties += score[j] == score[t];
        seen.near = seen.near || (score[j] != score[t] && std::abs(score[j] - score[t]) < 2e-6 * score[t]);
      }
      const double rank = ((1 + better) + (1 + better + equal)) / 2;
      m.mrr += 1 / rank;
      m.mean_rank += rank;
      ++m.ranks;
      for (std::size_t i = 0; i < at.size(); ++i) m.hits[i] += rank <= at[i];
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
      double found = 0, gain = 0, ideal = 0;
      for (std::size_t p = 1; p <= std::min<std::size_t>(at[i], tests.size()); ++p)
        ideal += 1 / std::log2(static_cast<double>(p) + 1);
      for (const std::uint32_t t : tests) {
        std::size_t better = 0, level = 0;
        for (const std::uint32_t j : list) {
          better += score[j] > score[t];
          level += score[j] == score[t];  // itself included
        }
        for (std::size_t p = better + 1; p <= better + level && p <= at[i]; ++p) {
          found += 1.0 / static_cast<double>(level);
          gain += 1 / std::log2(static_cast<double>(p) + 1) / static_cast<double>(level);
        }
      }
      m.recall[i] += found / static_cast<double>(tests.size());
      m.ndcg[i] += gain / ideal;
    }
    ++m.queries;
  }
  m.mrr /= static_cast<double>(m.ranks);
  m.mean_rank /= static_cast<double>(m.ranks);
  for (double& value : m.hits) value /= static_cast<double>(m.ranks);
  for (auto* values : {&m.recall, &m.ndcg})
    for (double& value : *values) value /= static_cast<double>(m.queries);
  return m;
}

void expect_same(const RankingMetrics& a, const RankingMetrics& b, double tolerance) {
  EXPECT_EQ(a.ranks, b.ranks);
  EXPECT_EQ(a.queries, b.queries);
  EXPECT_NEAR(a.mrr, b.mrr, tolerance);
  EXPECT_NEAR(a.mean_rank, b.mean_rank, 1000 * tolerance);
  for (std::size_t i = 0; i < b.hits.size(); ++i) {
    EXPECT_NEAR(a.hits[i], b.hits[i], tolerance);
    EXPECT_NEAR(a.recall[i], b.recall[i], tolerance);
    EXPECT_NEAR(a.ndcg[i], b.ndcg[i], tolerance);
  }
}

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = i;
  return result;
}

// The same ranks as the naive ranking: nothing but the rounding of sums is allowed, since no two scores are too close
// for floats. With a = 0.001 most factors of entities without data are zero, and there are many ties.
TEST(Rank, AgreesWithTheNaiveRanking) {
  for (const std::size_t K : {2u, 3u, 4u})
    for (const double dirichlet : {0.2, 0.001}) {
      const Example example(K, dirichlet);
      RankingOptions options;
      options.at = {1, 2, 5, 100};
      options.filter = {example.dir / "filter.tsv"};
      Posterior posterior(example.dir / "run", 2);
      ASSERT_EQ(posterior.draws(), 12u);
      std::vector<RankingMetrics> expected;
      Seen seen;
      for (std::size_t k = 0; k < K; ++k)
        expected.push_back(naive_ranking(example, k, numbers(12), options.at, true, seen));
      ASSERT_FALSE(seen.near) << "another seed is needed";
      ASSERT_EQ(seen.ties > 0, dirichlet < 0.01);
      test::for_each_target([&](const std::string& target) {
        SCOPED_TRACE(fmt::format("{} K {} a {}", target, K, dirichlet));
        const Ranking ranking = posterior.rank(example.dir / "test.tsv", options);
        EXPECT_EQ(ranking.test_ones, example.tests.size());
        for (std::size_t k = 0; k < K; ++k) expect_same(ranking.by_mode[k], expected[k], 1e-12);
      });
    }
}

TEST(Rank, FilterDrawsAndModesAreUsed) {
  const Example example(3, 0.2);
  Posterior posterior(example.dir / "run", 1);
  RankingOptions options;
  options.modes = {2, 0};
  options.draws = 3;
  const Ranking ranking = posterior.rank(example.dir / "test.tsv", options);
  EXPECT_EQ(ranking.draws, 3u);
  Seen seen;
  const std::vector<std::size_t> middles = {2, 6, 10};
  expect_same(ranking.by_mode[0], naive_ranking(example, 2, middles, options.at, false, seen), 1e-12);
  expect_same(ranking.by_mode[1], naive_ranking(example, 0, middles, options.at, false, seen), 1e-12);
  ASSERT_FALSE(seen.near);
  EXPECT_NEAR(ranking.all.mrr, (ranking.by_mode[0].mrr + ranking.by_mode[1].mrr) / 2, 1e-12);
  options.filter = {example.dir / "filter.tsv"};
  EXPECT_GT(posterior.rank(example.dir / "test.tsv", options).all.mrr, ranking.all.mrr);  // fewer rivals
}

// Batches of 8 queries, of 16, or all at once; one draw held or all; 1 thread or 3: bit for bit the same.
TEST(Rank, DoesNotDependOnBatchesOrThreads) {
  const Example example(3, 0.2);
  std::vector<RankingMetrics> results;
  for (const unsigned threads : {1u, 3u})
    for (const std::size_t memory : {std::size_t{1}, std::size_t{16 * 300}, std::size_t{256} << 20}) {
      RankingOptions options;
      options.memory = memory;
      Posterior posterior(example.dir / "run", threads);
      results.push_back(posterior.rank(example.dir / "test.tsv", options).all);
    }
  EXPECT_LT(plan_ranking(40, 5, 60, 12, 1).queries, 9u);
  EXPECT_LT(plan_ranking(40, 5, 60, 12, 16 * 300).queries, 60u);
  for (const RankingMetrics& result : results) expect_same(result, results[0], 0);
}

TEST(Rank, WithoutAFileTakesTheHeldOutOnes) {
  const TempDir dir;
  Dataset data;
  for (int k = 0; k < 2; ++k) data.tensor.modes.push_back({fmt::format("m{}", k), LabelTable::numbered(1, 20)});
  for (std::uint32_t i = 0; i < 20; ++i)
    for (std::uint32_t j = i % 2; j < 20; j += 2) data.tensor.coords.append(Cell{i, j}.data(), 2);
  FitOptions options;
  options.chains = 1;
  options.rank = 4;
  options.sweeps = 100;
  options.holdout = 0.1;
  options.threads = 1;
  fit(std::move(data), options, dir / "run");
  Posterior posterior(dir / "run", 1);
  const Ranking ranking = posterior.rank();
  EXPECT_EQ(ranking.test_ones, posterior.info().test_ones);
  // A test one has about ten rivals of the other parity. Seed 1: no chance; with the seeds 1 to 8 all are hits.
  EXPECT_GT(ranking.all.hits[2], 0.9);
}

TEST(Rank, RefusesWhatCannotBeRanked) {
  const Example example(2, 0.2);
  Posterior posterior(example.dir / "run", 1);
  const std::string test = example.dir / "test.tsv";
  RankingOptions options;
  options.modes = {2};
  EXPECT_THROW(posterior.rank(test, options), Error);
  options.modes = {0, 0};
  EXPECT_THROW(posterior.rank(test, options), Error);
  options = {};
  options.at = {0};
  EXPECT_THROW(posterior.rank(test, options), Error);
  options.at = {};
  EXPECT_THROW(posterior.rank(test, options), Error);
  std::ofstream(example.dir / "zeros.tsv") << "1\t1\t0\n";
  EXPECT_THROW(posterior.rank(example.dir / "zeros.tsv"), Error);
  std::ofstream(example.dir / "two.tsv") << "1\t1\t2\n";  // neither 0 nor 1
  EXPECT_THROW(posterior.rank(example.dir / "two.tsv"), Error);
}

}  // namespace
}  // namespace ztp
