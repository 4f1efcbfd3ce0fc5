// Rankings and recommendations where modes share a matrix and components columns, against plain loops. No chance.
#include "shared_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "kernel/host_arrays.hpp"
#include "kernel/kernel.hpp"
#include "posterior/queries.hpp"
#include "posterior/top_search.hpp"

namespace ztp::test {
namespace {

constexpr std::size_t D = 3;  // draws

class SharedColumns : public testing::Test {
 protected:
  SharedColumns() {
    for (std::size_t d = 0; d < D; ++d) {
      draws_.push_back(random_state(layout_, arrays_, 20 + d));
      for (double& value : draws_[d].tensor.log_weight) value -= 2;  // probabilities of all sizes
    }
  }
  // 1 - exp(-z), the mean over the draws.
  double probability(const std::uint32_t* cell) const {
    double sum = 0;
    for (const State& state : draws_) sum -= std::expm1(-plain_rate(state, cell));
    return sum / D;
  }

  const FactorLayout layout_ = shared_layout();
  HostArrays arrays_;
  std::vector<State> draws_;
  Pool pool_{2};
};

TEST_F(SharedColumns, ScoresOfAllCandidates) {
  Buffer<std::uint32_t> ones;
  const std::vector<std::uint32_t> cells = all_cells(layout_);
  ones.append(cells.data(), cells.size());
  for (std::size_t k = 0; k < 3; ++k) {
    const Queries queries(ones, 3, k);
    const std::size_t n = layout_.size_of_mode(k).rows;
    const auto kernel = make_kernel(KernelName::cpu, pool_);
    const auto candidates = kernel->candidates(layout_, {k, queries.size(), 1 << 20, {{D}, false}});
    ASSERT_GE(candidates->most_queries(), queries.size());
    candidates->begin(queries.batch(0, queries.size()));
    for (const State& state : draws_) candidates->add(state);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::vector<float> scores = candidates->scores(q);
      for (std::uint32_t j = 0; j < n; ++j) {
        std::vector<std::uint32_t> cell(queries.others(q), queries.others(q) + 2);
        cell.insert(cell.begin() + static_cast<std::ptrdiff_t>(k), j);
        const double expected = D * probability(cell.data());
        EXPECT_NEAR(static_cast<double>(scores[j]), expected, 3e-6 * expected);
      }
    }
  }
}

// The search of recommend, with none, one, two or all modes given.
TEST_F(SharedColumns, TheMostProbableCells) {
  for (std::size_t given = 0; given < 8; ++given) {
    OpenCells cells;
    cells.cell = {2, 5, 3};
    const ChainDraws one_chain{{D}, false};
    cells.chains = &one_chain;
    for (const State& state : draws_) {
      cells.rates.emplace_back(layout_, state.tensor.log_weight);
      for (std::size_t k = 0; k < 3; ++k)
        if (given >> k & 1) cells.rates.back().give(k, on_host(state.of_mode(k)).row(cells.cell[k]));
    }
    for (std::size_t k = 0; k < 3; ++k) {
      if (given >> k & 1) continue;
      OpenMode mode{k, layout_.size_of_mode(k).columns, {}, {}, {}};
      for (std::uint32_t id = 0; id < layout_.size_of_mode(k).rows; ++id) mode.ids.push_back(id);
      mode.largest.assign(D * mode.columns, 0.0f);
      for (const std::uint32_t id : mode.ids)
        for (std::size_t d = 0; d < D; ++d)
          for (std::size_t q = 0; q < mode.columns; ++q) {
            mode.rows.push_back(on_host(draws_[d].of_mode(k)).row(id)[q]);
            mode.largest[d * mode.columns + q] = std::max(mode.largest[d * mode.columns + q], mode.rows.back());
          }
      cells.open.push_back(std::move(mode));
    }
    // Of all cells that agree with the given ones, but those that are skipped.
    const auto skipped = [](const std::uint32_t* cell) { return (cell[0] + cell[1] + cell[2]) % 4 == 1; };
    std::vector<double> expected;
    const std::vector<std::uint32_t> all = all_cells(layout_);
    for (std::size_t e = 0; e < all.size(); e += 3) {
      bool agrees = !skipped(&all[e]);
      for (std::size_t k = 0; k < 3; ++k) agrees = agrees && (!(given >> k & 1) || all[e + k] == cells.cell[k]);
      if (agrees) expected.push_back(probability(&all[e]));
    }
    std::sort(expected.begin(), expected.end(), std::greater<>());
    expected.resize(std::min<std::size_t>(expected.size(), 10));
    TopSearch search(std::move(cells), 10, pool_);
    const std::vector<ScoredCell> found = search.run(skipped);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].score, expected[i], 2e-6 * expected[i]) << given << " " << i;
      EXPECT_NEAR(probability(found[i].cell.data()), found[i].score, 2e-6 * found[i].score);
      EXPECT_FALSE(skipped(found[i].cell.data()));
    }
  }
}

}  // namespace
}  // namespace ztp::test
