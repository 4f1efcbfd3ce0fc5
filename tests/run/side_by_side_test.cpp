// Chains that run side by side: the same run directory as one after the other, byte for byte, also after a stop, a
// failure, and with other threads. Data have the seed 5 or 7 and fits the seed 1: deterministic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <thread>

#include "base/file.hpp"
#include "base/random.hpp"
#include "faulty_world.hpp"
#include "related_people.hpp"
#include "run/cost.hpp"
#include "run/prepare.hpp"
#include "run/sample_run.hpp"
#include "run/thread_plan.hpp"
#include "sampler/batch_chain.hpp"
#include "temp_dir.hpp"
#include "tensor/tie_modes.hpp"
#include "ztp/fit.hpp"
#include "ztp/rivals.hpp"
#include "ztp/run_info.hpp"

namespace ztp::test {
namespace side_by_side_tests {

// Cells in three blocks, with a network and cells and entities that are missing.
Dataset blocks() {
  Dataset data;
  for (const char* name : {"user", "item", "week"}) data.tensor.modes.push_back({name, LabelTable::numbered(1, 12)});
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, 0);
  for (int point = 0; point < 500; ++point) {
    const std::uint64_t block = stream.below(3);
    for (int k = 0; k < 3; ++k) data.tensor.coords.push_back(static_cast<std::uint32_t>(3 * stream.below(3) + block));
  }
  data.tensor.sort_and_merge();
  Network ring;
  ring.source = "ring";
  for (std::uint32_t j = 0; j + 3 < 12; ++j)
    for (const std::uint32_t end : {j, j + 3}) ring.edges.push_back(end);
  data.networks.push_back(std::move(ring));
  data.missing.slices = {{}, {11}, {}};
  for (const std::uint32_t id : {10, 10, 0, 10, 10, 1}) data.missing.cells.push_back(id);
  return data;
}

struct Way {
  const char* name;
  std::function<Dataset()> data;
  std::function<void(FitOptions&)> change;
};

const Way ways[] = {
    {"collapsed", blocks, [](FitOptions&) {}},
    {"plain", blocks, [](FitOptions& o) { o.sampler = Sampler::plain; }},
    {"learned", blocks, [](FitOptions& o) { o.learn = "dirichlet,gamma-shape"; }},
    {"columns", [] { return groups(); },
     [](FitOptions& o) {
       const FitOptions related = tied();
       o.columns = related.columns;
       o.tie = related.tie;
       o.self_cells = related.self_cells;
       o.rank = related.rank;
     }},
};

FitOptions options_of(const Way& way, unsigned threads) {
  FitOptions options;
  options.rank = 6;
  options.sweeps = 40;
  options.holdout = 0.1;
  options.chains = 3;
  options.threads = threads;
  options.checkpoint = "7";
  way.change(options);
  return options;
}

// What of a run does not depend on how it was made.
void expect_same(const std::string& run, const std::string& other) {
  for (const char* file : {"/draws.nc", "/means.nc", "/cells.tsv", "/test.tsv"})
    EXPECT_TRUE(read_text(run + file) == read_text(other + file)) << run << file;
  const RunInfo a = run_info(run), b = run_info(other);
  EXPECT_EQ(a.auc_roc, b.auc_roc);
  EXPECT_EQ(a.draws, b.draws);
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.learned, b.learned);
}

std::size_t at_once(const Way& way, const FitOptions& options) {
  Dataset data = way.data();
  if (!options.tie.empty()) tie_modes(data, 0, 2);
  return plan_threads(complete_options(options, data), data).chains;
}

class SideBySide : public testing::TestWithParam<Way> {
 protected:
  FitOutcome fitted(const std::string& name, unsigned threads, const FitCallbacks& callbacks = {}) {
    return fit(GetParam().data(), options_of(GetParam(), threads), dir_ / name, callbacks);
  }
  const TempDir dir_;
};

TEST_P(SideBySide, GivesTheRunOfOneAfterTheOther) {
  ASSERT_EQ(fitted("1", 1), FitOutcome::complete);
  for (const unsigned threads : {2u, 3u, 7u}) {
    ASSERT_EQ(at_once(GetParam(), options_of(GetParam(), threads)), std::min(threads, 3u));
    const std::string name = std::to_string(threads);
    ASSERT_EQ(fitted(name, threads), FitOutcome::complete);
    expect_same(dir_ / name, dir_ / "1");
  }
}

TEST_P(SideBySide, CallsBackInTheCallingThreadAlone) {
  const std::thread::id caller = std::this_thread::get_id();
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  FitCallbacks callbacks;
  callbacks.on_sweep = [&](const SweepReport& report) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(report.planned, 120u);
    told.insert({report.chain, report.sweep});
  };
  callbacks.stop_requested = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return false;
  };
  ASSERT_EQ(fitted("run", 3, callbacks), FitOutcome::complete);
  EXPECT_EQ(told.size(), 120u);
}

// A stop finds the chains at different sweeps. Resumed with any number of them at a time.
TEST_P(SideBySide, AStoppedRunEndsAsIfItWereNot) {
  const auto options = [&](unsigned threads) {
    FitOptions long_run = options_of(GetParam(), threads);
    long_run.sweeps = 300;  // long enough to be stopped in its middle
    long_run.draws = 30;
    return long_run;
  };
  ASSERT_EQ(fit(GetParam().data(), options(1), dir_ / "whole"), FitOutcome::complete);
  int stopped = 0;
  for (const unsigned threads : {2u, 3u})
    for (const int when : {0, 1, 150, 500}) {
      const std::string run = dir_ / fmt::format("{}-{}", threads, when);
      int told = 0;
      FitCallbacks stop;
      stop.on_sweep = [&](const SweepReport&) { ++told; };
      stop.stop_requested = [&] { return told >= when; };
      stopped += fit(GetParam().data(), options(threads), run, stop) == FitOutcome::interrupted;
      ResumeOptions other;
      other.threads = when % 2 == 0 ? 1 : 3;
      ASSERT_EQ(resume(run, {}, other), FitOutcome::complete);
      expect_same(run, dir_ / "whole");
      EXPECT_FALSE(std::filesystem::exists(run + "/draws.log"));
      EXPECT_FALSE(std::filesystem::exists(run + "/checkpoint-1-a.bin"));
    }
  EXPECT_GE(stopped, 2);
}

// Copies a run directory that chains are writing to, as a kill would leave it: what they write later is in files that
// are copied later, so that no checkpoint is ahead of its draws.
void copy_running(const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  fs::create_directories(to);
  const auto is_checkpoint = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with("checkpoint-") || name.starts_with("chain-");
  };
  for (const bool checkpoints : {true, false})
    for (const auto& entry : fs::directory_iterator(from)) {
      std::error_code gone;  // as a file does that gets its name just then
      if (is_checkpoint(entry.path()) == checkpoints)
        fs::copy(entry.path(), to / entry.path().filename(), fs::copy_options::recursive, gone);
    }
}

TEST_P(SideBySide, ACopyOfARunningFitEndsAsIfItHadBeenLeftAlone) {
  ASSERT_EQ(fitted("whole", 1), FitOutcome::complete);
  int copies = 0;
  FitCallbacks callbacks;
  callbacks.stop_requested = [&] {
    if (copies < 3) copy_running(dir_ / "running", dir_ / ("copy" + std::to_string(copies++)));
    return false;
  };
  ASSERT_EQ(fitted("running", 3, callbacks), FitOutcome::complete);
  expect_same(dir_ / "running", dir_ / "whole");
  for (int i = 0; i < copies; ++i) {
    const std::string copy = dir_ / ("copy" + std::to_string(i));
    ASSERT_EQ(resume(copy), FitOutcome::complete);
    expect_same(copy, dir_ / "whole");
  }
}

std::string name_of_way(const testing::TestParamInfo<Way>& way) {
  return way.param.name;
}
INSTANTIATE_TEST_SUITE_P(Ways, SideBySide, testing::ValuesIn(ways), name_of_way);

// One of three chains goes bad: the others stop with a checkpoint, and all go on from there.
TEST(SideBySideFailure, StopsTheOthersAndLeavesARunThatGoesOn) {
  const TempDir dir;
  FaultyWorld worlds[3];
  Dataset data;
  data.tensor = FaultyWorld().tensor;
  FitOptions options;
  options.rank = 5;
  options.sweeps = 2000;
  options.chains = 3;
  options.draws = 60;
  options.sampler = Sampler::plain;
  options = complete_options(options, data);
  const Problem problem = make_problem(options, data);
  RunInfo info = describe_run(data, options, {}, "");
  const auto run = [&](const std::string& name, std::size_t side_by_side, const std::vector<Checkpoint>& from) {
    const auto make = [&](std::uint32_t c, std::size_t place) {
      return std::make_unique<BatchChain>(problem, worlds[place].kernel, c);
    };
    return sample_run({dir / name, data, {}, info, {}}, make, side_by_side, from);
  };
  for (const char* name : {"whole", "failed"}) {
    std::filesystem::create_directories(dir / name);
    write_initial_files(dir / name, info, data, {});
  }
  EXPECT_EQ(run("whole", 1, {}), FitOutcome::complete);
  worlds[1].kernel.plant({3 * 6, 4, 0, not_a_number});  // the seventh sweep of the chain at place 1
  EXPECT_EQ(message_of([&] { run("failed", 3, {}); }),
            "sweep 7: mode user, row 5, component 1: the factor is not a number" + remedy);
  std::vector<std::string> warnings;
  const std::vector<Checkpoint> from = latest_checkpoints(dir / "failed", info, warnings);
  ASSERT_EQ(from.size(), 3u);
  std::set<std::uint32_t> sweeps;
  for (const Checkpoint& checkpoint : from) {
    sweeps.insert(checkpoint.sweeps);
    EXPECT_LT(checkpoint.sweeps, 2000u);
  }
  EXPECT_EQ(sweeps.count(6), 1u);
  EXPECT_EQ(run("failed", 2, from), FitOutcome::complete);
  EXPECT_TRUE(read_text(dir / "failed/draws.nc") == read_text(dir / "whole/draws.nc"));
}

// ---- how many -------------------------------------------------------------------------------------------------------

Dataset data_of(std::size_t ones) {
  Dataset data;
  data.tensor.modes = {{"user", LabelTable::numbered(1, 1000)}, {"item", LabelTable::numbered(1, 1000)}};
  for (std::size_t e = 0; e < ones; ++e)
    for (const std::size_t id : {e / 1000, e % 1000}) data.tensor.coords.push_back(static_cast<std::uint32_t>(id));
  return data;
}

ThreadPlan plan_of(std::size_t ones, const std::function<void(FitOptions&)>& change = {}) {
  FitOptions options;
  options.threads = 8;
  options.chains = 4;
  if (change) change(options);
  const Dataset data = data_of(ones);
  return plan_threads(complete_options(options, data), data);
}

TEST(PlanThreads, OneChainAtATimeWhereItUsesThemAll) {
  const auto plain = [](FitOptions& o) { o.sampler = Sampler::plain; };
  EXPECT_EQ(plan_of(900000, plain).chains, 1u);
  EXPECT_EQ(plan_of(900000, plain).threads, 8u);
  EXPECT_EQ(plan_of(1000, plain).chains, 4u);
  EXPECT_EQ(plan_of(1000, plain).threads, 2u);
  EXPECT_EQ(plan_of(1000).chains, 4u);
  EXPECT_EQ(plan_of(1000, [](FitOptions& o) { o.chains = 1; }).chains, 1u);
  EXPECT_EQ(plan_of(1000, [](FitOptions& o) { o.threads = 3; }).chains, 3u);
  EXPECT_EQ(plan_of(1000, [](FitOptions& o) { o.threads = 1; }).chains, 1u);
}

TEST(PlanThreads, SerialSweepsRunSideBySideWhateverTheirSize) {
  EXPECT_EQ(plan_of(900000, [](FitOptions& o) { o.sampler = Sampler::collapsed; }).chains, 4u);
  EXPECT_EQ(plan_of(900000, [](FitOptions& o) { o.columns = {"10"}; }).chains, 4u);
  EXPECT_EQ(plan_of(900000, [](FitOptions& o) { o.method = Method::online; }).chains, 1u);
}

TEST(PlanThreads, FewOnesGetFewThreads) {
  const auto one_chain = [](FitOptions& o) { o.chains = 1; };
  EXPECT_EQ(plan_of(100,
                    [&](FitOptions& o) {
                      one_chain(o);
                      o.rank = 2;
                    })
                .threads,
            1u);
  EXPECT_EQ(plan_of(900000, one_chain).threads, 8u);
}

TEST(PlanThreads, NoMoreChainsThanMemoryHolds) {
  const Dataset data = data_of(20000);
  FitOptions options;
  options.threads = 4;
  options.rank = 200;
  options = complete_options(options, data);
  ASSERT_EQ(threads_within_memory(data, options).chains, 4u);
  ASSERT_EQ(estimate_cost(data, options).chains_at_once, 4u);
  const double four = estimate_cost(data, options).memory;
  options.memory = "30M";
  const ThreadPlan plan = threads_within_memory(data, options);
  EXPECT_LT(plan.chains, 4u);
  EXPECT_GE(plan.chains, 1u);
  EXPECT_EQ(plan.threads, 4 / plan.chains);
  EXPECT_LT(estimate_cost(data, options).memory, four);
}

}  // namespace side_by_side_tests
}  // namespace ztp::test
