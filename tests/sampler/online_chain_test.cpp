// Parity and invariants of online chains: the same bits for any number of threads, after a restart, and whichever rows are drawn; and sums
// that must agree. Everything is a function of the seed 13; there is no chance in a run. online_formulas_test.cpp has the numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "errors.hpp"
#include "online_data.hpp"
#include "tensor/records.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 13;

struct Setting {
  std::string name;
  OnlineOptions options;
};

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const bool latent : {false, true})
    for (const bool parameters : {false, true})
      for (const std::uint32_t draws : {1u, 3u})
        if (draws == 1 || !parameters)
          settings.push_back({fmt::format("latent {}, parameters {}, {} draws", latent ? "mean" : "sample",
                                          parameters ? "mean" : "sample", draws),
                              {.expected_counts = latent, .mean_parameters = parameters, .inner_draws = draws}});
  return settings;
}

// Large enough for several blocks of everything; networks so dense that their minibatches have an index of rows, and not. What is missing:
// two slices, a few cells and a few pairs.
void fill(OnlineData& data, bool with_more, std::size_t minibatches = 5) {
  add_modes({500, 120, 4}, data);
  add_ones(15'000, false, seed, data, [](const Cell& cell) { return cell[0] != 7 && cell[0] != 300 && cell[2] != 3; });
  if (with_more) {
    add_network(1, 3000, seed, data);
    add_network(0, 400, seed, data);
    for (std::uint32_t j = 100; j < 110; ++j) {  // of the second, whose edges are too few to have many of these
      const std::uint32_t pair[2] = {j, j + 200};
      if (find_record(std::as_const(data.networks[1].edges), 2, pair) < data.networks[1].size()) continue;
      data.networks[1].missing.append(pair, 2);
    }
    data.missing.slices = {{7, 300}, {}, {}};
    for (std::uint32_t j = 10; j < 60; ++j)
      for (const std::uint32_t id : {j, j, 3u}) data.missing.cells.push_back(id);
  }
  data.make_problem(17, minibatches, seed);
}

TEST(OnlineParity, ThirtyStepsForAnyNumberOfThreads) {
  OnlineData data;
  fill(data, true);
  Pool one(1), three(3);
  const auto alone = make_kernel("cpu", one), team = make_kernel("cpu", three);
  for (const auto& [name, options] : all_settings()) {
    OnlineChain a = data.chain(options, *alone), b = data.chain(options, *team);
    a.start();
    b.start();
    ASSERT_TRUE(same_statistics(a.statistics(), b.statistics())) << name << ", start";
    for (int t = 1; t <= 30; ++t) {
      const double here = a.step(true), there = b.step(true);
      ASSERT_TRUE(same_bits(here, there)) << name << ", step " << t << ": " << here << " and " << there;
      ASSERT_TRUE(same_statistics(a.statistics(), b.statistics())) << name << ", step " << t;
    }
    a.draw_state();
    b.draw_state();
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(same_bits(a.state().u[k], b.state().u[k])) << name;
  }
}

TEST(OnlineParity, RestoredEqualsUninterrupted) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const bool more : {true, false}) {
    OnlineData data;
    fill(data, more, more ? 5 : 200);  // without more, and minibatches so small, a few rows are drawn
    for (const auto& [name, options] : all_settings()) {
      OnlineChain whole = data.chain(options, *kernel, 1), first = data.chain(options, *kernel, 1),
                  second = data.chain(options, *kernel, 1);
      whole.start();
      run(whole, 12);
      first.start();
      run(first, 7);
      first.draw_state();  // as when a draw is kept: it must not matter
      std::swap(second.statistics(), first.statistics());
      second.shapes() = first.state().shapes;
      second.restore(first.steps_done());
      run(second, 5);
      EXPECT_EQ(second.steps_done(), 12u);
      EXPECT_TRUE(same_statistics(second.statistics(), whole.statistics())) << name;
      whole.draw_state();
      second.draw_state();
      for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(same_bits(second.state().u[k], whole.state().u[k])) << name;
      EXPECT_EQ(second.state().tensor.log_weight, whole.state().tensor.log_weight) << name;
    }
  }
}

// Of a dense network the minibatches have an index of rows, and both ends of an edge are rows of one matrix: threads that add them up must
// not do so at the same time. One component and 60 rows: where they did, they lost counts within twenty steps.
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
    ASSERT_TRUE(same_statistics(a.statistics(), b.statistics())) << "step " << t;
  }
}

// Chains and seeds must differ.
TEST(OnlineParity, ChainsDiffer) {
  OnlineData data;
  fill(data, false);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  OnlineChain a = data.chain({}, *kernel, 0), b = data.chain({}, *kernel, 1);
  for (OnlineChain* chain : {&a, &b}) {
    chain->start();
    chain->step(false);
  }
  EXPECT_NE(a.statistics().tensor, b.statistics().tensor);
}

// With means for parameters it makes no difference whether all rows are computed or those alone that a minibatch touches. A set of missing
// cells, though an empty one, makes a chain compute them all.
TEST(OnlineParity, TouchedRowsHaveTheMeansOfAllRows) {
  OnlineData data;
  fill(data, false, 200);  // 75 ones, 624 rows
  const Missing nothing;
  Problem dense_problem = data.problem;
  dense_problem.missing = &nothing;
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const bool expected : {false, true}) {
    const OnlineOptions options{.expected_counts = expected, .mean_parameters = true};
    OnlineChain few = data.chain(options, *kernel);
    OnlineChain dense(dense_problem, options, {*data.ones, {}}, *kernel, 0);
    few.start();
    dense.start();
    for (int t = 1; t <= 60; ++t) {
      ASSERT_TRUE(same_bits(few.step(true), dense.step(true))) << "step " << t;
      ASSERT_TRUE(same_statistics(few.statistics(), dense.statistics())) << "step " << t;
      // The test would be none, if few had computed them all: some rows are as an earlier step left them.
      ASSERT_FALSE(same_bits(few.state().u[0], dense.state().u[0])) << "step " << t;
    }
  }
}

// ---- invariants ------------------------------------------------------------------------------------------------------

// By how much the columns of mode k miss their totals, as a part of all counts.
double imbalance(const OnlineChain& chain, const OnlineData& data) {
  double largest = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t r = 0; r < data.problem.R; ++r) {
      std::int64_t expected = chain.statistics().tensor[r], column = 0;
      for (std::size_t m = 0; m < data.networks.size(); ++m)
        if (data.networks[m].mode == k) expected += 2 * chain.statistics().networks[m][r];
      for (std::size_t j = 0; j < chain.state().u[k].rows(); ++j) column += chain.statistics().rows[k].row(j)[r];
      largest = std::max(largest, chain.statistics().scale * std::abs(static_cast<double>(column - expected)));
    }
  return largest / static_cast<double>(data.tensor.nnz());
}

// To the unit, while nothing has been rounded: drawn counts are whole numbers of units. After rescaling, which rounds every row to its
// finest unit, and with expected counts, within a millionth of all counts.
TEST(OnlineInvariants, RowSumsAreTotals) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const bool more : {false, true}) {
    OnlineData data;
    fill(data, more);
    for (const auto& [name, options] : all_settings()) {
      OnlineChain chain = data.chain(options, *kernel);
      chain.start();
      EXPECT_EQ(imbalance(chain, data), 0) << name;
      double scale = chain.statistics().scale;
      bool rescaled = false;
      for (int t = 1, after = 0; after < 25 && t <= 120; ++t, after += rescaled) {
        chain.step(false);
        if (t > 1) rescaled |= std::abs(chain.statistics().scale / (scale * (1 - 1 / std::sqrt(t))) - 1) > 1e-9;
        scale = chain.statistics().scale;
        if (!options.expected_counts && !rescaled)
          ASSERT_EQ(imbalance(chain, data), 0) << name << ", step " << t;
        else
          ASSERT_LT(imbalance(chain, data), 1e-6) << name << ", step " << t;
      }
      EXPECT_TRUE(rescaled) << "the test has not seen what it is for";
    }
  }
}

// Each one is worth one count at least, and what is reported as coming from ones leaves imputed counts out.
TEST(OnlineInvariants, OnesAreCountedAndImputedCountsAreNot) {
  OnlineData data;
  fill(data, true);
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  OnlineChain chain = data.chain({}, *kernel);
  chain.start();
  for (int t = 1; t <= 10; ++t) {
    chain.step(false);
    double all = 0, from_ones = 0;
    for (std::size_t r = 0; r < data.problem.R; ++r) {
      ASSERT_LE(chain.statistics().from_ones[r], chain.statistics().tensor[r]);
      all += chain.statistics().scale * static_cast<double>(chain.statistics().tensor[r]);
      from_ones += chain.statistics().scale * static_cast<double>(chain.statistics().from_ones[r]);
    }
    EXPECT_GE(from_ones, static_cast<double>(data.tensor.nnz()) * (1 - 1e-4));  // weights are rounded to a unit
    EXPECT_GT(all, from_ones);
  }
}

// A step that moves the statistics by less than can be stored is an error, not a chain that stands still.
TEST(OnlineInvariants, StepsTooSmallToStoreAreAnError) {
  OnlineData data;
  fill(data, false);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  OnlineChain chain = data.chain({.kappa = 1, .t0 = 1e20}, *kernel);
  chain.start();
  chain.step(false);  // rho_1 is one
  EXPECT_TRUE(holds(error_of([&] { chain.step(false); }, ErrorKind::numeric), "step 2"));
}

// Which minibatches are asked for.
class Followed final : public Minibatches {
 public:
  explicit Followed(Minibatches& minibatches) : minibatches_(minibatches) {}
  std::uint64_t total() const override { return minibatches_.total(); }
  std::uint64_t total_count() const override { return minibatches_.total_count(); }
  std::size_t count() const override { return minibatches_.count(); }
  std::uint64_t size(std::size_t b) const override { return minibatches_.size(b); }
  bool whole() const override { return minibatches_.whole(); }
  void read(std::size_t b, std::size_t next, const std::function<void(const Entries&)>& use) override {
    ++times[b];
    minibatches_.read(b, next, use);
  }
  std::map<std::size_t, int> times;

 private:
  Minibatches& minibatches_;
};

// Fewer edges than there are minibatches of ones: each edge must be met as often as any other all the same, or it weighs more.
TEST(OnlineInvariants, FewEdgesAreMetEquallyOften) {
  OnlineData data;
  add_modes({10, 10}, data);
  add_ones(50, false, seed, data);
  add_network(0, 4, seed, data);
  data.make_problem(3, 10, seed);
  Followed ones(*data.ones), edges(*data.edges[0]);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
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
