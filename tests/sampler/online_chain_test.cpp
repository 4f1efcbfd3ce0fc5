// Online chains: which rows of the parameters are drawn, which minibatches are met how often, and statistics in units
// that run out. Everything is a function of the seed 13; there is no chance in a run. chain_test.cpp has what holds for
// all chains, and online_formulas_test.cpp the numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "checkpoint_bytes.hpp"
#include "errors.hpp"
#include "online_data.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 13;

void fill(OnlineData& data, std::size_t minibatches) {
  add_modes({500, 120, 4}, data);
  add_ones(15'000, false, seed, data, [](const Cell& cell) { return cell[2] != 3; });
  data.make_problem(17, minibatches, seed);
}

// Of a dense network the minibatches have an index of rows, and both ends of an edge are rows of one matrix: threads
// that add them up must not do so at the same time. One component and 60 rows: where they did, they lost counts within
// twenty steps.
TEST(OnlineParity, DenseNetworkForAnyNumberOfThreads) {
  OnlineData data;
  add_modes({60, 40}, data);
  add_ones(1000, false, seed, data);
  add_network(0, 1700, seed, data);
  data.make_problem(1, 1, seed);
  Pool one(1), three(3);
  const auto alone = make_kernel("cpu", one), team = make_kernel("cpu", three);
  OnlineChain a = data.chain({}, *alone), b = data.chain({}, *team);
  a.start();
  b.start();
  for (int t = 1; t <= 200; ++t) {
    a.step(false);
    b.step(false);
    ASSERT_TRUE(checkpoint_bytes(a) == checkpoint_bytes(b)) << "step " << t;
  }
}

// With means for parameters it makes no difference whether all rows are computed or those alone that a minibatch
// touches. A set of missing cells, though an empty one, makes a chain compute them all.
TEST(OnlineParity, TouchedRowsHaveTheMeansOfAllRows) {
  OnlineData data;
  fill(data, 200);  // 75 ones, 624 rows
  const Missing nothing;
  Problem dense_problem = data.problem;
  dense_problem.missing = &nothing;
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const bool expected : {false, true}) {
    const OnlineOptions options{.expected_counts = expected, .mean_parameters = true};
    OnlineChain few = data.chain(options, *kernel);
    const OwnedMinibatches minibatches = data.minibatches(*kernel);
    OnlineChain dense(dense_problem, options, {*minibatches.ones, {}}, *kernel, 0);
    few.start();
    dense.start();
    for (int t = 1; t <= 60; ++t) {
      ASSERT_EQ(few.step(true), dense.step(true)) << "step " << t;
      ASSERT_TRUE(checkpoint_bytes(few) == checkpoint_bytes(dense)) << "step " << t;
      // The test would be none, if few had computed them all: some rows are as an earlier step left them.
      ASSERT_FALSE(bytes_of(*few.state().factors[0]) == bytes_of(*dense.state().factors[0])) << "step " << t;
    }
  }
}

// ---- invariants -----------------------------------------------------------------------------------------------------

// By how much the columns miss their totals, as a part of all counts.
double imbalance(const OnlineChain& chain, const OnlineData& data) {
  const Statistics& statistics = chain.statistics();
  double largest = 0;
  for (const auto& counts : statistics.rows) {
    const Matrix<std::int64_t> rows = on_host(*counts);
    for (std::size_t r = 0; r < rows.columns(); ++r) {
      std::int64_t column = 0;
      for (std::size_t j = 0; j < rows.rows(); ++j) column += rows.row(j)[r];
      largest = std::max(largest, statistics.scale * std::abs(static_cast<double>(column - statistics.tensor[r])));
    }
  }
  return largest / static_cast<double>(data.tensor.nnz());
}

// To the unit, while nothing has been rounded: drawn counts are whole numbers of units. After rescaling, which rounds
// every row to its finest unit, and with expected counts, within a millionth of all counts.
TEST(OnlineInvariants, RowSumsAreTotalsWhenUnitsRunOut) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  OnlineData data;
  fill(data, 5);
  for (const bool expected : {false, true}) {
    OnlineChain chain = data.chain({.expected_counts = expected}, *kernel);
    chain.start();
    EXPECT_EQ(imbalance(chain, data), 0);
    double scale = chain.statistics().scale;
    bool rescaled = false;
    for (int t = 1, after = 0; after < 25 && t <= 120; ++t, after += rescaled) {
      chain.step(false);
      if (t > 1) rescaled |= std::abs(chain.statistics().scale / (scale * (1 - 1 / std::sqrt(t))) - 1) > 1e-9;
      scale = chain.statistics().scale;
      if (!expected && !rescaled)
        ASSERT_EQ(imbalance(chain, data), 0) << "step " << t;
      else
        ASSERT_LT(imbalance(chain, data), 1e-6) << "step " << t;
    }
    EXPECT_TRUE(rescaled) << "the test has not seen what it is for";
  }
}

// A step that moves the statistics by less than can be stored is an error, not a chain that stands still.
TEST(OnlineInvariants, StepsTooSmallToStoreAreAnError) {
  OnlineData data;
  fill(data, 5);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  OnlineChain chain = data.chain({.kappa = 1, .t0 = 1e20}, *kernel);
  chain.start();
  chain.step(false);  // rho_1 is one
  EXPECT_TRUE(holds(error_of([&] { chain.step(false); }, ErrorKind::numeric), "step 2"));
}

// Which minibatches are asked for.
class CountedMinibatches final : public Minibatches {
 public:
  explicit CountedMinibatches(Minibatches& minibatches) : minibatches_(minibatches) {}
  std::uint64_t total() const override { return minibatches_.total(); }
  std::uint64_t total_count() const override { return minibatches_.total_count(); }
  std::size_t count() const override { return minibatches_.count(); }
  std::uint64_t size(std::size_t b) const override { return minibatches_.size(b); }
  bool whole() const override { return minibatches_.whole(); }
  void read(std::size_t b, std::size_t next, const std::function<void(const Chunk&)>& use) override {
    ++times[b];
    minibatches_.read(b, next, use);
  }
  std::map<std::size_t, int> times;

 private:
  Minibatches& minibatches_;
};

// Fewer edges than there are minibatches of ones: each edge must be met as often as any other all the same, or it
// weighs more.
TEST(OnlineInvariants, FewEdgesAreMetEquallyOften) {
  OnlineData data;
  add_modes({10, 10}, data);
  add_ones(50, false, seed, data);
  add_network(0, 4, seed, data);
  data.make_problem(3, 10, seed);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  const OwnedMinibatches minibatches = data.minibatches(*kernel);
  CountedMinibatches ones(*minibatches.ones), edges(*minibatches.edges[0]);
  OnlineChain chain(data.problem, {}, {ones, {&edges}}, *kernel, 0);
  chain.start();
  ones.times.clear();
  edges.times.clear();
  run(chain, 20);
  for (std::size_t b = 0; b < 10; ++b) EXPECT_EQ(ones.times[b], 2) << b;
  for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(edges.times[b], 5) << b;
}

}  // namespace
}  // namespace ztp::test
