// --rank auto: what it chooses, when it stops, and that it changes nothing else. Data and fits have fixed seeds: there
// is no chance in a run. Bounds on what is chosen hold with the seeds 1 to 8 of the fit.
#include "run/choose_rank.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "errors.hpp"
#include "run/prepare.hpp"
#include "temp_dir.hpp"
#include "ztp/check.hpp"
#include "ztp/posterior.hpp"
#include "ztp/rivals.hpp"
#include "ztp/simulate.hpp"
#include "ztp/update.hpp"

namespace ztp {
namespace {

using test::holds;
using test::TempDir;

// Blocks of entities, one for each component.
Dataset planted(std::size_t rank, std::uint64_t ones, std::vector<std::uint64_t> dims = {60, 60, 60}) {
  SimulateOptions options;
  options.dims = std::move(dims);
  options.ones = ones;
  options.rank = rank;
  options.seed = 4;
  Simulated simulated = simulate(options);
  Dataset data;
  data.tensor = std::move(simulated.tensor);
  return data;
}

FitOptions quick() {
  FitOptions options;
  options.sweeps = 20;
  options.threads = 1;
  return options;
}

// The third line that a fit ends with.
std::string bound_verdict(const std::string& run) {
  return Posterior(run, 1).verdicts()[2].line();
}

std::string draws_of(const std::string& run) {
  return read_text(run + "/draws.nc");
}

// The trials double the bound, and only the last is enough.
TEST(ChooseRank, FindsABoundAboveAKnownRank) {
  const TempDir dir;
  for (const auto& [rank, ones, chosen] :
       {std::tuple{5, 2000, 25}, std::tuple{15, 2000, 25}, std::tuple{30, 4000, 50}}) {
    const std::string run = dir / std::to_string(rank);
    fit(planted(static_cast<std::size_t>(rank), static_cast<std::uint64_t>(ones), {300, 300, 120}), quick(), run);
    const RunInfo info = run_info(run);
    EXPECT_EQ(info.options.rank, chosen) << rank;
    EXPECT_EQ(info.options.beta_mean, 1.0 / chosen);
    EXPECT_EQ(info.rank_choice.stop, RankStop::enough);
    std::uint32_t bound = 25;
    for (const RankTrial& trial : info.rank_choice.trials) {
      EXPECT_EQ(trial.rank, bound);
      const bool last = &trial == &info.rank_choice.trials.back();
      EXPECT_EQ(5 * trial.used <= 4 * trial.rank, last) << rank << " " << trial.rank;
      EXPECT_TRUE(last ? trial.sweeps >= 10 && trial.sweeps <= 40 : trial.sweeps == 40) << trial.sweeps;
      bound *= 2;
    }
  }
}

TEST(ChooseRank, OnlineToo) {
  const TempDir dir;
  FitOptions options = quick();
  options.method = Method::online;
  fit(planted(5, 2000), options, dir / "run");
  const RunInfo info = run_info(dir / "run");
  EXPECT_GE(info.options.rank, 25);
  EXPECT_LE(info.options.rank, 100);
  EXPECT_EQ(info.rank_choice.trials.back().rank, info.options.rank);
  EXPECT_EQ(info.rank_choice.stop, RankStop::enough);
}

TEST(ChooseRank, ThreeOnes) {
  const TempDir dir;
  Dataset data;
  for (const char* name : {"a", "b"}) data.tensor.modes.push_back({name, LabelTable::numbered(1, 3)});
  for (const std::uint32_t j : {0u, 0u, 1u, 2u, 2u, 1u}) data.tensor.coords.push_back(j);
  fit(std::move(data), quick(), dir / "run");
  const RunInfo info = run_info(dir / "run");
  EXPECT_EQ(info.options.rank, 25);
  EXPECT_EQ(info.rank_choice.trials.size(), 1u);
}

// From the prior a chain begins with few components: the trial does not.
TEST(ChooseRank, WhateverTheStartOfTheFit) {
  const TempDir dir;
  FitOptions options = quick();
  fit(planted(30, 4000, {300, 300, 120}), options, dir / "allocation");
  options.start = Start::prior;
  fit(planted(30, 4000, {300, 300, 120}), options, dir / "prior");
  EXPECT_EQ(run_info(dir / "prior").options.rank, run_info(dir / "allocation").options.rank);
}

// The draws are those of a fit that was given the rank, for any number of threads.
TEST(ChooseRank, ChangesNothingElse) {
  const TempDir dir;
  FitOptions options = quick();
  options.holdout = 0.1;
  options.learn = "dirichlet";
  fit(planted(30, 4000, {300, 300, 120}), options, dir / "1");
  for (const std::int64_t threads : {2, 3}) {
    options.threads = threads;
    fit(planted(30, 4000, {300, 300, 120}), options, dir / std::to_string(threads));
    EXPECT_TRUE(draws_of(dir / std::to_string(threads)) == draws_of(dir / "1")) << threads;
  }
  options.rank = run_info(dir / "1").options.rank;
  fit(planted(30, 4000, {300, 300, 120}), options, dir / "given");
  EXPECT_TRUE(draws_of(dir / "given") == draws_of(dir / "1"));
  EXPECT_TRUE(run_info(dir / "given").rank_choice.trials.empty());
}

// A limit between what two bounds need ends the search; one below what the first needs makes it begin lower.
TEST(ChooseRank, StaysWithinMemory) {
  const TempDir dir;
  const auto data = [] { return planted(60, 40000, {20000, 20000, 60}); };
  FitOptions options = quick();
  options.sampler = Sampler::plain;
  const auto limit_between = [&](std::int64_t less, std::int64_t more) {
    double sum = 0;
    for (const std::int64_t rank : {less, more}) {
      FitOptions given = options;
      given.rank = rank;
      sum += estimate_cost(data(), given).memory + (12 << 20);  // and the program itself
    }
    return std::to_string(static_cast<std::uint64_t>(sum / 2));
  };
  std::string message;
  FitCallbacks callbacks;
  callbacks.on_message = [&](const std::string& text) { message = text; };
  options.memory = limit_between(25, 50);
  fit(data(), options, dir / "run", callbacks);
  const RunInfo info = run_info(dir / "run");
  EXPECT_EQ(info.options.rank, 25);
  EXPECT_EQ(info.rank_choice.stop, RankStop::memory);
  EXPECT_EQ(message, rank_choice_text(info.rank_choice));
  EXPECT_TRUE(holds(message, "memory does not allow more"));
  EXPECT_TRUE(holds(bound_verdict(dir / "run"), "Fit with --rank 50 and more memory."));
  options.memory = limit_between(12, 25);
  EXPECT_EQ(first_rank(options, complete_options(options, data()), data()), 12);
  options.memory = "1M";
  const auto none = [&] { fit(data(), options, dir / "none"); };
  EXPECT_TRUE(holds(test::error_of(none, ErrorKind::config), "of memory, and --memory allows"));
}

// While the rank is being chosen there is nothing to go on with; after that there is, to the same end.
TEST(ChooseRank, Interrupted) {
  const TempDir dir;
  const auto data = [] { return planted(30, 4000, {300, 300, 120}); };
  fit(data(), quick(), dir / "whole");
  int trials = 0, sweeps = 0;
  FitCallbacks callbacks;
  callbacks.on_rank_trial = [&](const RankTrial&) { ++trials; };
  callbacks.on_sweep = [&](const SweepReport&) { ++sweeps; };
  callbacks.stop_requested = [&] { return trials >= 45; };
  EXPECT_EQ(fit(data(), quick(), dir / "early", callbacks), FitOutcome::not_begun);
  EXPECT_EQ(trials, 45);
  EXPECT_EQ(sweeps, 0);
  EXPECT_FALSE(std::filesystem::exists(dir / "early"));
  callbacks.stop_requested = [&] { return sweeps >= 13; };
  EXPECT_EQ(fit(data(), quick(), dir / "late", callbacks), FitOutcome::interrupted);
  trials = 0;
  callbacks.stop_requested = {};
  EXPECT_EQ(resume(dir / "late", callbacks), FitOutcome::complete);
  EXPECT_EQ(trials, 0);
  EXPECT_EQ(run_info(dir / "late").options.rank, run_info(dir / "whole").options.rank);
  EXPECT_TRUE(draws_of(dir / "late") == draws_of(dir / "whole"));
  callbacks.on_rank_trial = [](const RankTrial&) { throw std::runtime_error("enough"); };
  EXPECT_THROW(fit(data(), quick(), dir / "thrown", callbacks), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(dir / "thrown"));
}

TEST(ChooseRank, AnUpdateKeepsIt) {
  const TempDir dir;
  fit(planted(5, 2000), quick(), dir / "run");
  const RunInfo before = run_info(dir / "run");
  write_text(dir / "new.tsv", "#mode1\tmode2\tmode3\n1\t60\t30\n2\t59\t31\n3\t58\t32\n");
  ReadOptions fresh;
  fresh.file = dir / "new.tsv";
  update(dir / "run", fresh, {});
  const RunInfo after = run_info(dir / "run");
  EXPECT_EQ(after.updates, 1u);
  EXPECT_EQ(after.options.rank, before.options.rank);
  EXPECT_EQ(rank_choice_text(after.rank_choice), rank_choice_text(before.rank_choice));
}

// A bound of 3 on data of rank 10 is full, and one of 25 is not.
TEST(FullBound, IsToldOf) {
  const TempDir dir;
  FitOptions options = quick();
  for (const std::int64_t rank : {3, 25}) {
    options.rank = rank;
    const std::string run = dir / std::to_string(rank);
    fit(planted(10, 2000), options, run);
    EXPECT_EQ(bound_verdict(run).substr(0, 42),
              rank == 3 ? "Is the bound on the rank large enough? No:" : "Is the bound on the rank large enough? Yes");
  }
}

TEST(RankChoiceText, SaysWhatStoppedIt) {
  RankChoice choice{{{25, 40, 25}, {50, 17, 40}}, RankStop::enough};
  EXPECT_EQ(rank_choice_text(choice), "rank auto: 50 (99 % of the counts are in 25 of 25, 40 of 50 components)");
  choice.stop = RankStop::most;
  EXPECT_EQ(rank_choice_text(choice),
            "rank auto: 50, the most that it tries; --rank gives more (99 % of the counts are in 25 of 25, 40 of 50 "
            "components)");
  choice.stop = RankStop::memory;
  EXPECT_EQ(rank_choice_text(choice),
            "rank auto: 50, and memory does not allow more (99 % of the counts are in 25 of 25, 40 of 50 components)");
}

// A rival, and components that share columns, have ranks that follow from the options alone.
TEST(ChooseRank, NotWhereTheRankFollows) {
  const TempDir dir;
  add_rivals();
  FitOptions options = quick();
  options.model = Model::quad;
  fit(planted(5, 250, {12, 12, 12}), options, dir / "quad");
  EXPECT_EQ(run_info(dir / "quad").options.rank, 20);
  options = quick();
  options.columns = {"4"};
  fit(planted(5, 250, {12, 12, 12}), options, dir / "shared");
  EXPECT_EQ(run_info(dir / "shared").options.rank, 80);
  for (const char* name : {"quad", "shared"}) EXPECT_TRUE(run_info(dir / name).rank_choice.trials.empty()) << name;
}

// What 'ztp check' finds is what a fit chooses.
TEST(CheckedRank, IsThatOfAFit) {
  const TempDir dir;
  const Dataset data = planted(30, 4000, {300, 300, 120});
  std::string text = "#a\tb\tc\n";
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e) {
    const std::uint32_t* cell = data.tensor.cell(e);
    for (std::size_t k = 0; k < 3; ++k) text += data.tensor.modes[k].labels[cell[k]] + (k == 2 ? "\n" : "\t");
  }
  write_text(dir / "ones.tsv", text);
  ReadOptions read;
  read.file = dir / "ones.tsv";
  const CheckReport report = check(read, quick());
  fit(read_dataset(read, quick()), quick(), dir / "run");
  const RunInfo info = run_info(dir / "run");
  if (report.smallest_rank) {  // a machine so slow that it was not tried
    EXPECT_EQ(report.smallest_rank->rank, 25);
    EXPECT_EQ(report.options.rank, 200);
    EXPECT_LT(report.smallest_rank->cost.memory, report.cost.memory);
  } else {
    EXPECT_EQ(report.options.rank, info.options.rank);
    EXPECT_EQ(rank_choice_text(report.rank_choice), rank_choice_text(info.rank_choice));
  }
  FitOptions given = quick();
  given.rank = 7;
  EXPECT_EQ(check(read, given).options.rank, 7);
  EXPECT_TRUE(check(read, given).rank_choice.trials.empty());
}

}  // namespace
}  // namespace ztp
