// What Posterior refuses, and what it says of cells in memory and of one chain.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/file.hpp"
#include "errors.hpp"
#include "kernel/host_arrays.hpp"
#include "store/draws_file.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"
#include "ztp/rivals.hpp"

namespace ztp {
namespace {

using test::error_of;
using test::holds;
using Given = std::vector<std::optional<std::uint32_t>>;

// 12 users by 9 items by 2 days: ones where their numbers leave the same rest.
class DoorsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new test::TempDir;
    add_rivals();
    fitted("run", Model::ztp);
    fitted("rival", Model::logistic);
  }
  static void TearDownTestSuite() { delete dir_; }

  static void fitted(const std::string& name, Model model) {
    Dataset data;
    for (const auto& [mode, size] : {std::pair{"user", 12u}, {"item", 9u}, {"day", 2u}})
      data.tensor.modes.push_back({mode, LabelTable::numbered(1, size)});
    for (std::uint32_t u = 0; u < 12; ++u)
      for (std::uint32_t i = u % 3; i < 9; i += 3) {
        const std::uint32_t cell[] = {u, i, (u + i) % 2};
        data.tensor.coords.append(cell, 3);
      }
    FitOptions options;
    options.rank = 4;
    options.sweeps = 40;
    options.chains = 2;
    options.threads = 1;
    options.model = model;
    fit(std::move(data), options, *dir_ / name);
  }
  static TestCells some_cells() {
    TestCells cells;
    for (std::uint32_t e = 0; e < 20; ++e) {
      const std::uint32_t cell[] = {e % 12, e * 5 % 9, e % 2};
      cells.coords.append(cell, 3);
      cells.outcome.push_back(e % 3 == 0 ? 1 : 0);
    }
    return cells;
  }
  static std::string file_of(const TestCells& cells) {
    std::string text;
    for (std::size_t e = 0; e < cells.size(); ++e)
      text += fmt::format("{}\t{}\t{}\t{}\n", cells.coords[3 * e] + 1, cells.coords[3 * e + 1] + 1,
                          cells.coords[3 * e + 2] + 1, cells.outcome[e]);
    write_text(*dir_ / "cells.tsv", text);
    return *dir_ / "cells.tsv";
  }
  static inline const test::TempDir* dir_ = nullptr;
  Posterior posterior_{*dir_ / "run", 1};
};

TEST_F(DoorsTest, PredictRefusesIdsOutOfRange) {
  const std::uint32_t cells[] = {11, 8, 1, 0, 9, 0};
  EXPECT_EQ(posterior_.predict(cells, 1).size(), 1u);
  EXPECT_EQ(error_of([&] { posterior_.predict(cells, 2); }, ErrorKind::usage),
            "cell 1 (from 0) has the id 9 of mode item, which has 9 entities");
  EXPECT_TRUE(posterior_.predict(nullptr, 0).empty());
}

TEST_F(DoorsTest, TooManyThreadsAreRefused) {
  EXPECT_EQ(error_of([&] { Posterior(*dir_ / "run", static_cast<unsigned>(-1)); }, ErrorKind::usage),
            "4294967295 threads: at most 1024 are allowed");
}

TEST_F(DoorsTest, RecommendRefusesQuestionsThatAreNone) {
  const auto refusal = [&](const Given& given, std::size_t top) {
    return error_of([&] { posterior_.recommend(given, top, [](const auto&) { return true; }); }, ErrorKind::usage);
  };
  EXPECT_EQ(refusal({0u, {}}, 1), "recommend: 2 modes are given or left open, but there are 3");
  EXPECT_EQ(refusal({0u, {}, {}, {}}, 1), "recommend: 4 modes are given or left open, but there are 3");
  EXPECT_EQ(refusal({0u, {}, 2u}, 1), "recommend: the id 2 of mode day, which has 2 entities");
  EXPECT_EQ(refusal({0u, {}, {}}, 0), "recommend: ask for one cell or more");
  std::size_t found = 0;  // more than there are
  posterior_.recommend({0u, {}, {}}, std::size_t{1} << 62, [&](const auto&) { return ++found > 0; });
  EXPECT_EQ(found, 18u - 3u);
}

TEST_F(DoorsTest, ComponentsOfMoreEntitiesThanThereAre) {
  const std::vector<Component> all = posterior_.components(std::size_t{1} << 62, 1);
  EXPECT_EQ(all[0].top[1].size(), 9u);
  EXPECT_TRUE(posterior_.components(0)[0].top[1].empty());
  EXPECT_EQ(error_of([&] { posterior_.components(3, 2); }, ErrorKind::config),
            *dir_ / "run" + ": chain 3 (counted from 1) has no draws; number of chains in the run: 2");
}

TEST_F(DoorsTest, EvaluatesCellsInMemoryAsThoseOfAFile) {
  const TestCells cells = some_cells();
  const Metrics from_file = posterior_.evaluate(file_of(cells)), from_memory = posterior_.evaluate(cells);
  for (const MetricField& field : metric_fields()) {
    const double one = from_memory.*field.member, other = from_file.*field.member;
    EXPECT_TRUE(one == other || (std::isnan(one) && std::isnan(other))) << field.key;
  }
  EXPECT_EQ(from_memory.ones, 7u);
  EXPECT_EQ(from_memory.zeros, 13u);
  EXPECT_TRUE(std::isnan(posterior_.evaluate(TestCells()).log_loss));
}

TEST_F(DoorsTest, RanksCellsInMemoryAsThoseOfAFile) {
  const TestCells cells = some_cells();
  RankingOptions options;
  options.draws = 3;
  const Ranking from_file = posterior_.rank(file_of(cells), options), from_memory = posterior_.rank(cells, options);
  EXPECT_EQ(from_memory.test_ones, 7u);
  EXPECT_EQ(from_memory.all.mrr, from_file.all.mrr);
  EXPECT_EQ(from_memory.all.hits, from_file.all.hits);
  EXPECT_EQ(from_memory.all.ndcg, from_file.all.ndcg);
  EXPECT_EQ(error_of([&] { posterior_.rank(TestCells()); }, ErrorKind::input), "ranking: there are no ones to rank");
}

TEST_F(DoorsTest, TestCellsThatDoNotFitAreRefused) {
  TestCells cells = some_cells();
  cells.coords[4] = 9;
  const std::string out_of_range = "cell 1 (from 0) has the id 9 of mode item, which has 9 entities";
  EXPECT_EQ(error_of([&] { posterior_.evaluate(cells); }, ErrorKind::usage), out_of_range);
  EXPECT_EQ(error_of([&] { posterior_.rank(cells); }, ErrorKind::usage), out_of_range);
  cells.coords.resize(59);
  const std::string sizes = "20 outcomes and 59 ids: 60 ids are needed, of 3 modes for each cell";
  EXPECT_EQ(error_of([&] { posterior_.evaluate(cells); }, ErrorKind::usage), sizes);
  EXPECT_EQ(error_of([&] { posterior_.rank(cells); }, ErrorKind::usage), sizes);
}

// Means of a chain against the draws themselves. The file of means has floats: 2^-24 of each number, and sums of them.
TEST_F(DoorsTest, MeansOfAChain) {
  const RunInfo& info = posterior_.info();
  const DrawsFile draws(*dir_ / "run", info);
  for (const std::size_t chain : {0u, 1u}) {
    std::vector<double> weights(4, 0.0), factor(9 * 4, 0.0);
    double count = 0;
    HostArrays arrays;
    State state = draws.make_state(arrays);
    for (std::size_t i = 0; i < draws.draws().size(); ++i) {
      if (draws.draws()[i].chain != chain) continue;
      draws.load(i, state);
      ++count;
      for (std::size_t r = 0; r < 4; ++r) weights[r] += std::exp(state.tensor.log_weight[r]);
      for (std::size_t x = 0; x < factor.size(); ++x)
        factor[x] += static_cast<double>(values_of(*state.factors[1]).row(x / 4)[x % 4]) / 9;
    }
    const std::vector<double> mean_weights = posterior_.mean_weights(chain);
    const std::vector<float> mean_factor = posterior_.mean_factor(1, chain);
    ASSERT_EQ(mean_weights.size(), 4u);
    ASSERT_EQ(mean_factor.size(), factor.size());
    for (std::size_t r = 0; r < 4; ++r) EXPECT_NEAR(mean_weights[r], weights[r] / count, 1e-6 * weights[r] / count);
    for (std::size_t x = 0; x < factor.size(); ++x)
      EXPECT_NEAR(static_cast<double>(mean_factor[x]), factor[x] / count, 1e-6);
    for (const Component& component : posterior_.components(1, chain)) {
      EXPECT_EQ(component.weight, mean_weights[component.number - 1]);
      EXPECT_EQ(component.top[1][0].value,
                static_cast<double>(mean_factor[component.top[1][0].id * 4 + component.number - 1]));
    }
  }
  EXPECT_TRUE(
      holds(error_of([&] { posterior_.mean_weights(2); }, ErrorKind::config), "chain 3 (counted from 1) has no draws"));
  EXPECT_TRUE(holds(error_of([&] { posterior_.mean_factor(0, 2); }, ErrorKind::config),
                    "chain 3 (counted from 1) has no draws"));
  EXPECT_EQ(error_of([&] { posterior_.mean_factor(3); }, ErrorKind::usage), "mean_factor: there is no mode 3 (from 0)");
}

TEST_F(DoorsTest, ARivalHasNoMeansOfFactors) {
  Posterior rival(*dir_ / "rival", 1);
  EXPECT_TRUE(holds(error_of([&] { rival.mean_factor(0); }, ErrorKind::config), "factors can be negative"));
  EXPECT_TRUE(holds(error_of([&] { rival.mean_weights(); }, ErrorKind::config), "factors can be negative"));
  EXPECT_EQ(rival.evaluate(some_cells()).ones, 7u);
}

TEST_F(DoorsTest, MovedItGoesOn) {
  const std::uint32_t cell[] = {1, 1, 0};
  const double before = posterior_.predict(cell, 1)[0].probability;
  Posterior moved = std::move(posterior_);
  EXPECT_EQ(moved.predict(cell, 1)[0].probability, before);
  posterior_ = std::move(moved);
  EXPECT_EQ(posterior_.predict(cell, 1)[0].probability, before);
}

}  // namespace
}  // namespace ztp
