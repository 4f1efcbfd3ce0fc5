// A number that goes bad stops a chain with mode, row and sweep, and leaves it as it was before the sweep.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "base/file.hpp"
#include "baselines/logistic_chain.hpp"
#include "baselines/quad_chain.hpp"
#include "kernel/gamma_draw.hpp"
#include "model/draws.hpp"
#include "run/prepare.hpp"
#include "run/sample_run.hpp"
#include "sampler/chain.hpp"
#include "sampler/guard.hpp"
#include "sampler/online_chain.hpp"
#include "sampler/run_chains.hpp"
#include "sampler/update_chain.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

// The real kernel, but for one draw of columns in which a value is replaced, as if its gamma draw had gone wrong.
class FaultyKernel final : public Kernel {
 public:
  struct Fault {
    std::size_t draw;                // which call of draw_columns, from 0
    std::optional<std::size_t> row;  // none: all of the column
    std::size_t component;
    float value;
  };
  explicit FaultyKernel(Kernel& real) : real_(real) {}
  void plant(const Fault& fault) {
    fault_ = fault;
    calls_ = 0;
  }

  std::vector<double> draw_columns(const Columns& columns, StreamKey key, std::uint32_t sweep,
                                   Matrix<float>& u) override {
    std::vector<double> sums = real_.draw_columns(columns, key, sweep, u);
    if (!fault_ || calls_++ != fault_->draw) return sums;
    const std::size_t r = fault_->component;
    for (std::size_t j = 0; j < u.rows(); ++j)
      if (!fault_->row || *fault_->row == j) u.row(j)[r] = fault_->value;
    sums[r] = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) sums[r] += static_cast<double>(u.row(j)[r]);
    fault_.reset();
    return sums;
  }
  double allocate(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                  const Sums& sums) override {
    if (allocations_left_ == 0) throw Error(ErrorKind::numeric, "planted in the counts");
    if (allocations_left_ > 0) --allocations_left_;
    return real_.allocate(entries, rates, key, sweep, sums);
  }
  void fail_after(int allocations) { allocations_left_ = allocations; }

  void mean_columns(const Columns& columns, Matrix<float>& u) override { real_.mean_columns(columns, u); }
  double impute_diagonal(const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                         std::uint32_t sweep, const Sums& sums) override {
    return real_.impute_diagonal(u, log_beta, key, sweep, sums);
  }
  std::vector<double> column_mass(const Matrix<float>& u, Rows rows) override { return real_.column_mass(u, rows); }
  void place(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, StreamKey key,
             std::uint32_t sweep, Matrix<std::int64_t>& S, std::int64_t unit) override {
    real_.place(u, rows, totals, key, sweep, S, unit);
  }
  void spread(const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
              Matrix<std::int64_t>& S) override {
    real_.spread(u, rows, power, factor, S);
  }
  void shift(int bits, Matrix<std::int64_t>& S) override { real_.shift(bits, S); }
  void move(const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S) override {
    real_.move(towards, part, S);
  }
  Tally tally(const Matrix<std::int64_t>& S) override { return real_.tally(S); }
  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    real_.score(coords, count, rates, z);
  }

 private:
  Kernel& real_;
  std::optional<Fault> fault_;
  std::size_t calls_ = 0;
  int allocations_left_ = -1;
};

// 40 users x 30 items x 20 days with a ring of users, and the first two days missing.
struct World {
  SparseTensor tensor;
  std::vector<Network> networks;
  Missing missing;
  Pool pool{2};
  std::unique_ptr<Kernel> real = make_kernel("cpu", pool);
  FaultyKernel kernel{*real};
  Problem problem;

  explicit World(bool plain = true) {
    const std::vector<std::pair<const char*, std::uint32_t>> modes = {{"user", 40}, {"item", 30}, {"day", 20}};
    for (const auto& [name, size] : modes) tensor.modes.push_back({name, LabelTable::numbered(1, size)});
    Stream stream(stream_key(3, 0, Purpose::simulate), 0, 0);
    for (int e = 0; e < 800; ++e)
      for (const auto& [name, size] : modes)
        tensor.coords.push_back(static_cast<std::uint32_t>(size == 20 ? 2 + stream.below(18) : stream.below(size)));
    tensor.sort_and_merge();
    problem.tensor = &tensor;
    problem.R = 5;
    problem.seed = 11;
    problem.hyper = {{0.1, 0.1, 0.1}, {0.1, 1, 0.2}, {0.1, 1, 0.2}};
    if (plain) return;
    Network& ring = networks.emplace_back();
    for (std::uint32_t j = 0; j < 39; ++j) ring.edges.push_back(j), ring.edges.push_back(j + 1);
    missing.slices = {{}, {}, {0, 1}};
    problem.networks = networks;
    problem.missing = &missing;
    problem.hyper.learn_dirichlet = problem.hyper.learn_shapes = true;
  }
};

std::string bytes_of(AnyChain& chain) {
  std::string bytes;
  for (const Carried& part : chain.carried()) bytes.append(static_cast<const char*>(part.data), part.bytes);
  return bytes;
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numeric);
    return error.what();
  }
  return "no error";
}

const std::string remedy =
    "; fewer components, or --dirichlet and --gamma-shape nearer to their defaults, may help; if they are at their "
    "defaults, please report this";

// The step fails with this message, changes nothing that is carried, and afterwards the chain goes on to the same bytes as another that never
// met the fault.
void expect_survived(World& world, AnyChain& chain, AnyChain& untouched, std::size_t steps,
                     const FaultyKernel::Fault& fault, const std::string& message) {
  chain.start();
  untouched.start();
  for (std::size_t t = 0; t < steps; ++t) chain.step(true), untouched.step(true);
  const std::string before = bytes_of(chain);
  world.kernel.plant(fault);
  EXPECT_EQ(message_of([&] { chain.step(true); }), message + remedy);
  EXPECT_TRUE(chain.whole());
  EXPECT_EQ(chain.steps_done(), steps);
  EXPECT_TRUE(bytes_of(chain) == before);
  for (int t = 0; t < 3; ++t) {
    const double value = chain.step(true), expected = untouched.step(true);
    EXPECT_TRUE(value == expected || !chain.knows_likelihood());
  }
  EXPECT_TRUE(bytes_of(chain) == bytes_of(untouched));
}

TEST(Numeric, BatchNamesModeRowAndSweep) {
  World world;
  Chain chain(world.problem, world.kernel, 0), untouched(world.problem, *world.real, 0);
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
  World world(false);
  for (const bool regroup : {false, true}) {
    world.problem.regroup = regroup;
    Chain chain(world.problem, world.kernel, 0), untouched(world.problem, *world.real, 0);
    expect_survived(world, chain, untouched, 3, {0, 12, 4, not_a_number},
                    "sweep 4: mode user, row 13, component 5: the factor is not a number");
  }
}

TEST(Numeric, OnlineNamesModeRowAndStep) {
  for (const bool few_rows : {false, true}) {
    World world;
    MemoryMinibatches ones(std::as_const(world.tensor.coords), {}, sizes_of(world.tensor), few_rows ? 100 : 10);
    for (const std::uint32_t inner : {1u, 3u}) {
      const OnlineOptions options{.expected_counts = few_rows, .inner_draws = inner};
      OnlineChain chain(world.problem, options, ones, {}, world.kernel, 0);
      OnlineChain untouched(world.problem, options, ones, {}, *world.real, 0);
      // with several inner draws, in the last of them
      expect_survived(world, chain, untouched, 7, {3 * (inner - 1) + 1, 29, 1, not_a_number},
                      "step 8: mode item, row 30, component 2: the factor is not a number");
    }
  }
}

TEST(Numeric, OnlineWithNetworksAndMissingSlices) {
  World world(false);
  world.problem.hyper.learn_dirichlet = world.problem.hyper.learn_shapes = false;
  MemoryMinibatches ones(std::as_const(world.tensor.coords), {}, sizes_of(world.tensor), 10);
  MemoryMinibatches edges(std::as_const(world.networks[0].edges), {}, {40, 40}, 10, true);
  const OnlineOptions options;
  OnlineChain chain(world.problem, options, ones, {&edges}, world.kernel, 0);
  OnlineChain untouched(world.problem, options, ones, {&edges}, *world.real, 0);
  expect_survived(world, chain, untouched, 5, {2, 3, 1, infinite},
                  "step 6: mode day, row 4, component 2: the factor is infinite");
}

TEST(Numeric, UpdateSurvivesInItsFirstHalfAlone) {
  World world;
  MemoryMinibatches ones(std::as_const(world.tensor.coords), {}, sizes_of(world.tensor), 2);
  UpdateChain chain(world.problem, {}, ones, {}, world.kernel, 0, 2);
  UpdateChain untouched(world.problem, {}, ones, {}, *world.real, 0, 2);
  chain.statistics().scale = untouched.statistics().scale = 0x1p-16;
  expect_survived(world, chain, untouched, 1, {0, 1, 1, not_a_number},
                  "step 2: mode user, row 2, component 2: the factor is not a number");
  UpdateChain other(world.problem, {}, ones, {}, world.kernel, 0, 2);
  other.statistics().scale = 0x1p-16;
  other.start();
  world.kernel.plant({4, 1, 1, not_a_number});  // at the second minibatch: some counts have been added
  EXPECT_EQ(message_of([&] { other.step(false); }),
            "step 1: mode item, row 2, component 2: the factor is not a number" + remedy);
  EXPECT_FALSE(other.whole());
}

// A sweep that fails while its counts are drawn cannot be undone, and says so.
TEST(Numeric, FailureAmongTheCountsIsNotWhole) {
  World world;
  Chain chain(world.problem, world.kernel, 0);
  chain.start();
  chain.step(true);
  world.kernel.fail_after(0);
  EXPECT_EQ(message_of([&] { chain.step(true); }), "planted in the counts");
  EXPECT_FALSE(chain.whole());
  world.kernel.fail_after(-1);
  chain.restore(1);
  EXPECT_TRUE(chain.whole());
}

// The real kernels say themselves what goes bad: here by shapes that are not numbers, in one row or in all.
TEST(Numeric, KernelsReturnTheSumsOfColumns) {
  Pool pool(1);
  for (const char* name : {"cpu", "reference"}) {
    for (const double a : {1e-6, 0.1, 3.0}) {
      Matrix<std::int64_t> S(70, 3);
      for (std::size_t j = 0; j < 70; ++j) S.row(j)[1] = static_cast<std::int64_t>(j * j);
      Matrix<float> u(70, 3);
      const auto kernel = make_kernel(name, pool);
      for (const double sum : kernel->draw_columns({S, a}, stream_key(1, 0, Purpose::columns), 1, u))
        EXPECT_TRUE(sum > 0 && std::isfinite(sum)) << name << " " << a << " " << sum;
      for (std::size_t r = 0; r < 3; ++r) {
        double sum = 0;
        for (std::size_t j = 0; j < 70; ++j) sum += static_cast<double>(u.row(j)[r]);
        EXPECT_NEAR(sum / 70, 1, 1e-5);
      }
    }
  }
  EXPECT_TRUE(std::isnan(log_gamma_at(stream_key(1, 0, Purpose::columns), 1, 1, not_a_number)));
  std::vector<double> logs = {-3.0, std::nan(""), -1.0};
  EXPECT_TRUE(std::isnan(normalise_logs(logs, 3)));
  EXPECT_TRUE(std::isfinite(logs[0]) && std::isnan(logs[1]) && std::isfinite(logs[2]));
}

// None of these may run for ever.
TEST(Numeric, DrawsRefuseWhatTheyCannotDraw) {
  Stream stream(stream_key(1, 0, Purpose::counts), 0, 0);
  EXPECT_TRUE(std::isnan(draw_log_gamma(stream, std::nan(""))));
  EXPECT_TRUE(std::isnan(draw_log_gamma(stream, -1)));
  for (const double mean : {std::nan(""), 1e300, static_cast<double>(infinite)}) {
    EXPECT_THROW(draw_poisson(stream, mean), Error);
    EXPECT_THROW(draw_zero_truncated_poisson(stream, mean), Error);
  }
  EXPECT_THROW(draw_binomial(stream, 100, std::nan("")), Error);
}

// Near the end of whole numbers counts still have the right mean and variance. 4000 draws each, seed 1; the mean is allowed 6 standard
// errors and the variance 20 % (9 of its standard errors): a false alarm has probability below 1e-7 in all.
TEST(Numeric, LargeCountsAreDrawnWell) {
  const auto check = [](double mean, double variance, const std::function<std::int64_t(Stream&)>& draw) {
    constexpr int draws = 4000;
    Stream stream(stream_key(1, 0, Purpose::counts), 0, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      const double off = (static_cast<double>(draw(stream)) - mean) / std::sqrt(variance);
      sum += off;
      squares += off * off;
    }
    EXPECT_LT(std::abs(sum / std::sqrt(draws)), 6) << mean;
    EXPECT_NEAR(squares / draws, 1, 0.2) << mean;
  };
  for (const int bits : {31, 39, 43, 52, 61}) {
    const std::int64_t trials = std::int64_t{1} << bits;
    for (const double p : {0.25, 0.5, 0.75}) {
      const double n = static_cast<double>(trials);
      check(n * p, n * p * (1 - p), [&](Stream& stream) { return draw_binomial(stream, trials, p); });
    }
    const double mean = static_cast<double>(trials);
    check(mean, mean, [&](Stream& stream) { return draw_poisson(stream, mean); });
  }
}

TEST(Numeric, TooManyCountsAreAnOverflow) {
  World world;
  world.problem.hyper.tensor = {1e20, 1e21, 0.5};
  Chain chain(world.problem, *world.real, 0);
  chain.start();
  const std::string before = bytes_of(chain);
  const std::string message = message_of([&] { chain.step(true); });
  EXPECT_TRUE(message.starts_with("sweep 1: overflow: counts of ")) << message;
  EXPECT_TRUE(
      message.ends_with("sums of counts go up to 2^62; smaller counts, a smaller --gamma-shape or "
                        "--network-gamma-shape, or a smaller --beta-mean may help"))
      << message;
  EXPECT_TRUE(bytes_of(chain) == before && chain.whole());

  const Place place{world.tensor.modes, "sweep", 3};
  Statistics statistics = make_statistics({40, 30, 20}, 1, 2);
  check_totals(statistics, place);
  statistics.networks[0][1] = -5;
  EXPECT_EQ(message_of([&] { check_totals(statistics, place); }),
            "sweep 3: overflow: network 1, component 2: the counts add up to more than 2^62" + remedy);
}

TEST(Numeric, HyperparametersAndWeightsAreLookedAt) {
  World world;
  const Place place{world.tensor.modes, "sweep", 9};
  Shapes shapes{{0.1, std::nan(""), 0.1}, 0.1, {}};
  EXPECT_EQ(message_of([&] { check_shapes(shapes, 1, place); }),
            "sweep 9: mode item: the Dirichlet parameter is not a number" + remedy);
  shapes = {{0.1, 0.1, 0.1}, 0, {}};
  EXPECT_EQ(message_of([&] { check_shapes(shapes, 1, place); }),
            "sweep 9: the gamma shape of the weights is zero" + remedy);
  shapes = {{0.1, 0.1, 0.1}, 0.1, {static_cast<double>(infinite)}};
  EXPECT_EQ(message_of([&] { check_shapes(shapes, 1, place); }),
            "sweep 9: network 1: the gamma shape of the weights is infinite" + remedy);
  Weights weights(3);
  check_weights(weights, -1, place);
  weights.log_weight[1] = std::nan("");
  EXPECT_EQ(message_of([&] { check_weights(weights, -1, place); }),
            "sweep 9: component 2: the logarithm of the weight is not a number" + remedy);
  weights.log_weight[1] = 0;
  weights.log_p[2] = -static_cast<double>(infinite);
  EXPECT_EQ(message_of([&] { check_weights(weights, 0, place); }),
            "sweep 9: network 1, component 3: the logarithm of p is infinite" + remedy);
}

// ---- the loop --------------------------------------------------------------------------------------------------------

struct Watcher : Observer {
  std::vector<std::uint32_t> swept, failed;
  std::string at_last_sweep, at_failure;
  void on_draw(AnyChain&, const SweepReport&) override {}
  void on_sweep(AnyChain& chain, const SweepReport& report) override {
    swept.push_back(report.sweep);
    at_last_sweep = bytes_of(chain);
  }
  void on_end(AnyChain&, const SweepReport&) override {}
  bool stop_requested() override { return false; }
  void on_failure(AnyChain& chain, const SweepReport& last) override {
    failed.push_back(last.sweep);
    at_failure = bytes_of(chain);
  }
};

TEST(Numeric, ObserverMaySaveWhatTheFailedChainCarries) {
  World world;
  const Schedule schedule{.sweeps = 10, .burn_in = 5};
  const auto run = [&](Watcher& watcher) {
    run_chains([&](std::uint32_t c) { return std::make_unique<Chain>(world.problem, world.kernel, c); }, schedule, {},
               {}, {}, watcher);
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

// A run whose seventh sweep goes bad has a checkpoint of the sixth, although none was due, and ends from there as one in which nothing did.
TEST(Numeric, TheRunHasACheckpointOfTheSweepBefore) {
  const test::TempDir dir;
  World world;
  Dataset data;
  data.tensor = std::move(world.tensor);
  FitOptions options;
  options.rank = 5;
  options.sweeps = 20;
  options.sampler = "plain";
  options = complete_options(options, data);
  const Problem problem = make_problem(options, data);
  RunInfo info = describe_run(data, options, {}, "");
  const auto run = [&](const std::string& name, const Checkpoint& from) {
    return sample_run(
        {dir / name, data, {}, info, {}},
        [&](std::uint32_t c) { return std::make_unique<Chain>(problem, world.kernel, c); }, from);
  };
  for (const char* name : {"whole", "failed"}) {
    std::filesystem::create_directories(dir / name);
    begin_run_dir(dir / name, info, data, {});
  }
  EXPECT_EQ(run("whole", {}), FitOutcome::complete);
  world.kernel.plant({3 * 6, 4, 0, not_a_number});
  EXPECT_EQ(message_of([&] { run("failed", {}); }),
            "sweep 7: mode user, row 5, component 1: the factor is not a number" + remedy);
  std::vector<std::string> warnings;
  const Checkpoint from = latest_checkpoint(dir / "failed", info, warnings);
  EXPECT_EQ(from.sweeps, std::vector<std::uint32_t>{6});
  EXPECT_EQ(run("failed", from), FitOutcome::complete);
  EXPECT_EQ(read_text(dir / "failed/draws.nc"), read_text(dir / "whole/draws.nc"));
}

// A chain that does nothing but return a likelihood.
class Silent final : public AnyChain {
 public:
  explicit Silent(double value, bool knows = true) : AnyChain(0), value_(value), knows_(knows) {}
  void start() override {}
  double step(bool) override { return ++t_, value_; }
  void draw_state() override {}
  std::vector<Carried> carried() override { return {}; }
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
    run_chains([&](std::uint32_t) { return std::make_unique<Silent>(value, knows); }, {.sweeps = 2, .burn_in = 1}, {},
               {}, {}, watcher);
    EXPECT_EQ(watcher.swept.size(), 2u);
  };
  run(-1);
  run(std::nan(""), false);
  EXPECT_TRUE(message_of([&] { run(std::nan("")); }).starts_with("sweep 1: the log-likelihood is not a number; "));
  EXPECT_TRUE(message_of([&] { run(-std::numeric_limits<double>::infinity()); })
                  .starts_with("sweep 1: the log-likelihood is "
                               "infinite; "));
}

// ---- the rivals ------------------------------------------------------------------------------------------------------

template <class Rival>
void plant(Rival& chain, const std::string& name, std::size_t byte, double value) {
  for (const Carried& part : chain.carried()) {
    if (part.name != name) continue;
    const float small = static_cast<float>(value);
    if (name == "u1")
      std::memcpy(static_cast<char*>(part.data) + byte, &small, sizeof(small));
    else
      std::memcpy(static_cast<char*>(part.data) + byte, &value, sizeof(value));
  }
}

TEST(Numeric, RivalsNameIterationModeAndRow) {
  World world;
  Pool alone(1);  // with more, any row could be the first to fail
  const RivalProblem problem{&world.tensor, nullptr, 3, 1};
  QuadChain quad(problem, 0.1, 1, alone, 0);
  quad.start();
  quad.step(true);
  plant(quad, "u1", 0, std::nan(""));  // mode item, row 1
  quad.restore(1);
  std::string message = message_of([&] { quad.step(true); });
  EXPECT_TRUE(message.starts_with("iteration 2: mode 1, row 1 has no minimum")) << message;
  EXPECT_FALSE(quad.whole());

  LogisticChain logistic(problem, 2000, alone, 0);
  logistic.start();
  logistic.step(true);
  EXPECT_TRUE(logistic.whole());
  plant(logistic, "weight", 0, std::nan(""));
  message = message_of([&] { logistic.step(true); });
  EXPECT_TRUE(message.starts_with("sweep 2: mode user, row 1")) << message;
  EXPECT_FALSE(logistic.whole());
}

}  // namespace
}  // namespace ztp
