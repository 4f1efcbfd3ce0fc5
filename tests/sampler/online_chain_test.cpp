// Online chains: which rows of the parameters are drawn, which minibatches are met how often, and statistics in units
// that run out. Everything is a function of the seed 13; there is no chance in a run. chain_test.cpp has what holds for
// all chains, and online_formulas_test.cpp the numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "checkpoint_bytes.hpp"
#include "errors.hpp"
#include "host_copies.hpp"
#include "online_data.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace online_chain_tests {

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
  const auto alone = make_kernel(KernelName::cpu, one), team = make_kernel(KernelName::cpu, three);
  OnlineChain a = data.chain({}, *alone), b = data.chain({}, *team);
  a.start();
  b.start();
  for (int t = 1; t <= 200; ++t) {
    a.step(false);
    b.step(false);
    ASSERT_TRUE(checkpoint_bytes(a) == checkpoint_bytes(b)) << "step " << t;
  }
}

// Minibatches that may come in several chunks, as those of a file: a chain then computes all rows.
class InChunks final : public Minibatches {
 public:
  explicit InChunks(Minibatches& of) : of_(of) {}
  std::uint64_t total() const override { return of_.total(); }
  std::uint64_t total_count() const override { return of_.total_count(); }
  std::size_t count() const override { return of_.count(); }
  std::uint64_t size(std::size_t b) const override { return of_.size(b); }
  void read(std::size_t b, std::size_t next, const std::function<void(const Chunk&)>& use) override {
    of_.read(b, next, use);
  }
  bool whole() const override { return false; }

 private:
  Minibatches& of_;
};

// With means for parameters it makes no difference whether all rows are computed or those alone that a minibatch, of
// ones and of missing cells, touches.
TEST(OnlineParity, TouchedRowsHaveTheMeansOfAllRows) {
  OnlineData data;
  for (std::uint32_t j = 0; j < 60; ++j) data.missing.cells.append(Cell{5 * j, j, 3}.data(), 3);
  fill(data, 400);  // 38 ones and 30 missing cells, 624 rows
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  for (const bool expected : {false, true}) {
    const OnlineOptions options{.expected_counts = expected, .mean_parameters = true};
    OnlineChain few = data.chain(options, *kernel);
    const OwnedMinibatches minibatches = data.minibatches(*kernel);
    ASSERT_EQ(minibatches.missing->count(), 2u);
    InChunks chunks(*minibatches.ones);
    OnlineChain dense(data.problem, options, {chunks, {}, minibatches.missing.get()}, *kernel, 0);
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

// The average of many draws of the parameters is near their means: of 60 values none is further off than six standard
// errors, which happens with a probability below 1e-6, or some 1e-5, since a few of them are skewed. With a single
// draw, as a twin, many are.
TEST(OnlineParameters, InnerDrawsAverageToTheMeans) {
  OnlineData data;
  add_modes({12, 8}, data);
  add_ones(60, false, seed, data);
  data.make_problem(3, 1, seed);
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  for (const std::uint32_t M : {10'000u, 1u}) {
    OnlineChain averaged = data.chain({.inner_draws = M}, *kernel),
                mean = data.chain({.mean_parameters = true}, *kernel);
    averaged.start();
    mean.start();
    // Of the statistics that both start from.
    std::vector<double> counts;
    for (const std::int64_t total : mean.statistics().tensor)
      counts.push_back(mean.statistics().scale * static_cast<double>(total));
    averaged.step(false);
    mean.step(false);
    int far = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const Matrix<float> u = on_host(*averaged.state().factors[k]), expected = on_host(*mean.state().factors[k]);
      const double n = static_cast<double>(u.rows());
      for (std::size_t j = 0; j < u.rows(); ++j)
        for (std::size_t r = 0; r < 3; ++r) {
          const double part = static_cast<double>(expected.row(j)[r]) / n;
          const double deviation = n * std::sqrt(part * (1 - part) / (0.1 * n + counts[r] + 1));
          far += std::abs(static_cast<double>(u.row(j)[r] - expected.row(j)[r])) > 6 * deviation / 100;
        }
    }
    // Weights are gammas of some 20 counts times betas, which vary by a quarter, and their average by a four-hundredth:
    // eight of these.
    for (std::size_t r = 0; r < 3 && M > 1; ++r)
      EXPECT_NEAR(averaged.state().tensor.log_weight[r], mean.state().tensor.log_weight[r], 0.02);
    if (M == 1)
      EXPECT_GT(far, 30);
    else
      EXPECT_EQ(far, 0);
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
  const auto kernel = make_kernel(KernelName::cpu, pool);
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
  const auto kernel = make_kernel(KernelName::cpu, pool);
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
  const auto kernel = make_kernel(KernelName::cpu, pool);
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

}  // namespace online_chain_tests
}  // namespace ztp::test
