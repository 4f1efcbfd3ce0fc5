// A number that goes bad stops a chain with mode, row and sweep, and leaves it as it was before the sweep.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "checkpoint_bytes.hpp"
#include "faulty_world.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/guard.hpp"
#include "sampler/online_chain.hpp"
#include "sampler/run_chains.hpp"
#include "sampler/update_chain.hpp"

namespace ztp::test {
namespace {

// The step fails with this message, changes nothing that is carried, and afterwards the chain goes on to the same bytes
// as another that never met the fault.
void expect_survived(FaultyWorld& world, Chain& chain, Chain& untouched, std::size_t steps,
                     const FaultyKernel::Fault& fault, const std::string& message) {
  chain.start();
  untouched.start();
  for (std::size_t t = 0; t < steps; ++t) chain.step(true), untouched.step(true);
  const std::string before = checkpoint_bytes(chain);
  world.kernel.plant(fault);
  EXPECT_EQ(message_of([&] { chain.step(true); }), message + remedy);
  EXPECT_TRUE(chain.whole());
  EXPECT_EQ(chain.steps_done(), steps);
  EXPECT_TRUE(checkpoint_bytes(chain) == before);
  for (int t = 0; t < 3; ++t) {
    const double value = chain.step(true), expected = untouched.step(true);
    EXPECT_TRUE(value == expected || !chain.knows_likelihood());
  }
  EXPECT_TRUE(checkpoint_bytes(chain) == checkpoint_bytes(untouched));
}

TEST(Numeric, BatchNamesModeRowAndSweep) {
  FaultyWorld world;
  BatchChain chain(world.problem, world.kernel, 0), untouched(world.problem, *world.real, 0);
  expect_survived(world, chain, untouched, 4, {1, 6, 2, not_a_number},
                  "sweep 5: mode item, row 7, component 3: the factor is not a number");
  expect_survived(world, chain, untouched, 2, {0, 39, 0, infinite},
                  "sweep 3: mode user, row 40, component 1: the factor is infinite");
  expect_survived(world, chain, untouched, 0, {2, 0, 4, -infinite},
                  "sweep 1: mode day, row 1, component 5: the factor is infinite");
  expect_survived(world, chain, untouched, 1, {2, std::nullopt, 3, 0},
                  "sweep 2: mode day, component 4: the column is empty, its 20 rows are all zero");
}

// Learned hyperparameters have been drawn by the time of the fault, and are put back.
TEST(Numeric, LearnedValuesNetworksAndCollapsedMovesArePutBack) {
  FaultyWorld world(false);
  for (const bool collapsed : {false, true}) {
    world.problem.collapsed = collapsed;
    BatchChain chain(world.problem, world.kernel, 0), untouched(world.problem, *world.real, 0);
    expect_survived(world, chain, untouched, 3, {0, 12, 4, not_a_number},
                    "sweep 4: mode user, row 13, component 5: the factor is not a number");
  }
}

TEST(Numeric, OnlineNamesModeRowAndStep) {
  for (const bool few_rows : {false, true}) {
    FaultyWorld world;
    const std::size_t minibatches = few_rows ? 100 : 10;
    MemoryMinibatches ones(std::as_const(world.tensor.coords), {}, world.problem.layout, minibatches, *world.real);
    const StreamKey order = stream_key(world.problem.seed, 0, Purpose::minibatches);
    const std::size_t b = minibatch_of_step(order, minibatches, 8);
    std::uint32_t item = 0;  // that the eighth minibatch has a one of
    ones.read(b, b, [&](const Minibatches::Chunk& chunk) { item = chunk.coords[1]; });
    for (const std::uint32_t inner : {1u, 3u}) {
      const OnlineOptions options{.expected_counts = few_rows, .inner_draws = inner};
      OnlineChain chain(world.problem, options, {ones, {}}, world.kernel, 0);
      OnlineChain untouched(world.problem, options, {ones, {}}, *world.real, 0);
      // with several inner draws, in the last of them
      expect_survived(world, chain, untouched, 7, {3 * (inner - 1) + 1, item, 1, not_a_number},
                      fmt::format("step 8: mode item, row {}, component 2: the factor is not a number", item + 1));
    }
  }
}

TEST(Numeric, OnlineWithNetworksAndMissingSlices) {
  FaultyWorld world(false);
  world.problem.hyper.learn_dirichlet = world.problem.hyper.learn_shapes = false;
  MemoryMinibatches ones(std::as_const(world.tensor.coords), {}, world.problem.layout, 10, *world.real);
  MemoryMinibatches edges(std::as_const(world.networks[0].edges), {}, FactorLayout::pairs(40, 5), 10, *world.real);
  const OnlineOptions options;
  OnlineChain chain(world.problem, options, {ones, {&edges}}, world.kernel, 0);
  OnlineChain untouched(world.problem, options, {ones, {&edges}}, *world.real, 0);
  expect_survived(world, chain, untouched, 5, {2, 3, 1, infinite},
                  "step 6: mode day, row 4, component 2: the factor is infinite");
}

TEST(Numeric, UpdateSurvivesInItsFirstHalfAlone) {
  FaultyWorld world;
  MemoryMinibatches ones(std::as_const(world.tensor.coords), {}, world.problem.layout, 2, *world.real);
  UpdateChain chain(world.problem, {.looks = 2}, {ones, {}}, world.kernel, 0);
  UpdateChain untouched(world.problem, {.looks = 2}, {ones, {}}, *world.real, 0);
  chain.statistics().scale = untouched.statistics().scale = 0x1p-16;
  expect_survived(world, chain, untouched, 1, {0, 1, 1, not_a_number},
                  "step 2: mode user, row 2, component 2: the factor is not a number");
  UpdateChain other(world.problem, {.looks = 2}, {ones, {}}, world.kernel, 0);
  other.statistics().scale = 0x1p-16;
  other.start();
  world.kernel.plant({4, 1, 1, not_a_number});  // at the second minibatch: some counts have been added
  EXPECT_EQ(message_of([&] { other.step(false); }),
            "step 1: mode item, row 2, component 2: the factor is not a number" + remedy);
  EXPECT_FALSE(other.whole());
}

// A sweep that fails while its counts are drawn cannot be undone, and says so.
TEST(Numeric, FailureAmongTheCountsIsNotWhole) {
  FaultyWorld world;
  BatchChain chain(world.problem, world.kernel, 0);
  chain.start();
  chain.step(true);
  world.kernel.fail_after(0);
  EXPECT_EQ(message_of([&] { chain.step(true); }), "planted in the counts");
  EXPECT_FALSE(chain.whole());
  world.kernel.fail_after(-1);
  chain.restore(1);
  EXPECT_TRUE(chain.whole());
}

TEST(Numeric, TooManyCountsAreAnOverflow) {
  FaultyWorld world;
  world.problem.hyper.tensor = {1e20, 1e21, 0.5};
  BatchChain chain(world.problem, *world.real, 0);
  chain.start();
  const std::string before = checkpoint_bytes(chain);
  const std::string message = message_of([&] { chain.step(true); });
  EXPECT_TRUE(message.starts_with("sweep 1: overflow: counts of ")) << message;
  EXPECT_TRUE(
      message.ends_with("a sum of counts cannot exceed 2^62; smaller counts, a smaller --gamma-shape or "
                        "--network-gamma-shape, or a smaller --beta-mean may help"))
      << message;
  EXPECT_TRUE(checkpoint_bytes(chain) == before && chain.whole());

  const StepContext context{world.problem, "sweep", 3};
  Statistics statistics = make_statistics(world.problem.layout, {0}, false, *world.real);
  check_totals(statistics, context);
  statistics.networks[0][1] = -5;
  EXPECT_EQ(message_of([&] { check_totals(statistics, context); }),
            "sweep 3: overflow: network 1, component 2: the counts add up to more than 2^62" + remedy);
}

TEST(Numeric, HyperparametersAndWeightsAreLookedAt) {
  FaultyWorld world;
  const StepContext context{world.problem, "sweep", 9};
  PriorShapes shapes{{0.1, std::nan(""), 0.1}, 0.1, {}};
  EXPECT_EQ(message_of([&] { check_shapes(shapes, 1, context); }),
            "sweep 9: mode item: the Dirichlet parameter is not a number" + remedy);
  shapes = {{0.1, 0.1, 0.1}, 0, {}};
  EXPECT_EQ(message_of([&] { check_shapes(shapes, 1, context); }),
            "sweep 9: the gamma shape of the weights is zero" + remedy);
  shapes = {{0.1, 0.1, 0.1}, 0.1, {static_cast<double>(infinite)}};
  EXPECT_EQ(message_of([&] { check_shapes(shapes, 1, context); }),
            "sweep 9: network 1: the gamma shape of the weights is infinite" + remedy);
  Weights weights(3);
  check_weights(weights, -1, context);
  weights.log_weight[1] = std::nan("");
  EXPECT_EQ(message_of([&] { check_weights(weights, -1, context); }),
            "sweep 9: component 2: the logarithm of the weight is not a number" + remedy);
  weights.log_weight[1] = 0;
  weights.log_p[2] = -static_cast<double>(infinite);
  EXPECT_EQ(message_of([&] { check_weights(weights, 0, context); }),
            "sweep 9: network 1, component 3: the logarithm of p is infinite" + remedy);
}

// ---- the loop -------------------------------------------------------------------------------------------------------

struct Watcher : Observer {
  std::vector<std::uint32_t> swept, failed;
  std::string at_last_sweep, at_failure;
  void on_draw(const RunningChain&) override {}
  void on_sweep(const RunningChain& now) override {
    swept.push_back(now.report.sweep);
    at_last_sweep = checkpoint_bytes(now.chain);
  }
  void on_end(const RunningChain&) override {}
  void on_failure(const RunningChain& last) override {
    failed.push_back(last.report.sweep);
    at_failure = checkpoint_bytes(last.chain);
  }
};

TEST(Numeric, ObserverMaySaveWhatTheFailedChainCarries) {
  FaultyWorld world;
  const Schedule schedule{.sweeps = 10, .burn_in = 5};
  const auto run = [&](Watcher& watcher) {
    const auto make = [&](std::uint32_t c, std::size_t) {
      return std::make_unique<BatchChain>(world.problem, world.kernel, c);
    };
    run_chains(make, schedule, {}, {}, watcher);
  };
  Watcher watcher;
  world.kernel.plant({3 * 6, 4, 0, not_a_number});
  EXPECT_EQ(message_of([&] { run(watcher); }),
            "sweep 7: mode user, row 5, component 1: the factor is not a number" + remedy);
  EXPECT_EQ(watcher.swept.back(), 6u);
  EXPECT_EQ(watcher.failed, std::vector<std::uint32_t>{6});
  EXPECT_TRUE(watcher.at_failure == watcher.at_last_sweep);
  Watcher late;
  world.kernel.fail_after(4);
  EXPECT_EQ(message_of([&] { run(late); }), "planted in the counts");
  EXPECT_EQ(late.swept.back(), 4u);
  EXPECT_TRUE(late.failed.empty());
}

// A chain that does nothing but return a likelihood.
class Silent final : public Chain {
 public:
  explicit Silent(double value, bool knows = true) : Chain(0), value_(value), knows_(knows) {}
  void start() override {}
  double step(bool) override { return ++t_, value_; }
  void draw_state() override {}
  std::vector<CheckpointField> checkpoint_fields() override { return {}; }
  std::vector<double> learned() const override { return {}; }
  void describe(SweepReport&) const override {}
  void probabilities(const std::uint32_t*, std::size_t, double*) const override {}
  bool knows_likelihood() const override { return knows_; }

 private:
  double value_;
  bool knows_;
};

TEST(Numeric, LikelihoodThatWasAskedForMustBeANumber) {
  const auto run = [](double value, bool knows = true) {
    Watcher watcher;
    run_chains([&](std::uint32_t, std::size_t) { return std::make_unique<Silent>(value, knows); }, {.sweeps = 2, .burn_in = 1}, {},
               {}, watcher);
    EXPECT_EQ(watcher.swept.size(), 2u);
  };
  run(-1);
  run(std::nan(""), false);
  EXPECT_TRUE(message_of([&] { run(std::nan("")); }).starts_with("sweep 1: the log-likelihood is not a number; "));
  EXPECT_TRUE(message_of([&] { run(-std::numeric_limits<double>::infinity()); })
                  .starts_with("sweep 1: the log-likelihood is "
                               "infinite; "));
}

}  // namespace
}  // namespace ztp::test
