// Runs in which components share columns: the whole way from options to predictions, columns and the core. Data have
// the seed 7 and fits the seed 1: deterministic.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/file.hpp"
#include "errors.hpp"
#include "model/layout_options.hpp"
#include "related_people.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"
#include "ztp/update.hpp"

namespace ztp {
namespace {

using test::groups, test::people, test::relations, test::TempDir, test::tied;

std::vector<double> predictions_of(const std::string& run, const std::vector<std::uint32_t>& cells) {
  Posterior posterior(run, 1);
  std::vector<double> values;
  for (const Prediction& p : posterior.predict(cells.data(), cells.size() / 3)) values.push_back(p.probability);
  return values;
}

TEST(SharedColumns, TiedModesHaveTheSameEntities) {
  const TempDir dir;
  ASSERT_EQ(fit(groups(), tied(), dir / "run"), FitOutcome::complete);
  Posterior posterior(dir / "run", 1);
  const LabelTable& subjects = posterior.modes()[0].labels;
  const LabelTable& objects = posterior.modes()[2].labels;
  ASSERT_EQ(subjects.size(), people);
  ASSERT_EQ(objects.size(), people);
  for (std::uint32_t j = 0; j < people; ++j) EXPECT_EQ(subjects[j], objects[j]);
  // Of the cells of groups that are related, most are likely, and of the others none; also those of "p1", which no one
  // has as a subject: its group is known from the ones that it is the object of.
  std::vector<std::uint32_t> likely, unlikely;
  for (std::uint32_t a = 0; a < people; ++a)
    for (std::uint32_t l = 0; l < relations; ++l)
      for (std::uint32_t b = 0; b < people; ++b) {
        const auto i = std::stoul(subjects[a].substr(1)), j = std::stoul(objects[b].substr(1));
        if (i == j || i == 1 || j == 0) continue;
        for (const std::uint32_t id : {a, l, b}) ((i + l) % 3 == j % 3 ? likely : unlikely).push_back(id);
      }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  EXPECT_NEAR(mean(predictions_of(dir / "run", likely)), 0.8, 0.05);
  EXPECT_NEAR(mean(predictions_of(dir / "run", unlikely)), 0.02, 0.02);
}

TEST(SharedColumns, AnInterruptedRunEndsAsIfItWereNot) {
  const TempDir dir;
  FitOptions options = tied();
  options.learn = "dirichlet,gamma-shape";
  options.holdout = 0.1;
  options.holdout_as = HoldoutAs::missing;
  options.chains = 2;
  ASSERT_EQ(fit(groups(), options, dir / "whole"), FitOutcome::complete);
  for (const int when : {1, 70, 121, 200}) {
    const std::string run = dir / std::to_string(when);
    int sweeps = 0;
    FitCallbacks stop;
    stop.on_sweep = [&](const SweepReport&) { ++sweeps; };
    stop.stop_requested = [&] { return sweeps >= when; };
    ASSERT_EQ(fit(groups(), options, run, stop), FitOutcome::interrupted);
    ResumeOptions more;
    more.threads = 3;
    ASSERT_EQ(resume(run, {}, more), FitOutcome::complete);
    EXPECT_TRUE(read_text(run + "/draws.nc") == read_text(dir / "whole" + "/draws.nc")) << when;
  }
}

// The weights of columns and of core entries add up to those of all components.
TEST(SharedColumns, WeightsOfColumnsAndCoreAddUp) {
  const TempDir dir;
  fit(groups(), tied(), dir / "run");
  Posterior posterior(dir / "run", 1);
  double all = 0, of_core = 0;
  for (const double weight : posterior.mean_weights()) all += weight;
  for (const std::size_t mode : {0, 1}) {
    double sum = 0;
    for (const Column& column : posterior.columns(mode, 3)) {
      sum += column.weight;
      EXPECT_LE(column.weight_q05, column.weight_q95);
      EXPECT_EQ(column.top.size(), 3u);
    }
    EXPECT_NEAR(sum, mode == 0 ? 2 * all : all, 1e-3 * all);  // the first is that of two modes
  }
  for (const CoreEntry& entry : posterior.core()) {
    of_core += entry.weight;
    EXPECT_GE(entry.weight, weight_of_empty);
    ASSERT_EQ(entry.columns.size(), 3u);
    EXPECT_GE(entry.columns[1], 1u);
    EXPECT_LE(entry.columns[1], relations);
  }
  EXPECT_GT(of_core, 0.95 * all);
  EXPECT_LE(of_core, 1.001 * all);
  EXPECT_THROW(posterior.components(3), Error);
}

// What depends on the data; flags by themselves are in tests/bad_inputs/shared_columns.txt.
TEST(SharedColumns, WhatCannotBeIsRefused) {
  const TempDir dir;
  const auto message = [&](const auto& change, Dataset data = groups()) {
    FitOptions options = tied();
    change(options);
    return test::error_of([&] { fit(std::move(data), options, dir / "refused"); });
  };
  using O = FitOptions&;
  EXPECT_EQ(message([](O o) { o.columns = {"subject=25"}; }),
            "--columns subject=25: mode subject has 24 entities, so at most 24 columns");
  EXPECT_EQ(message([](O o) { o.rank = 3; }),
            "--rank 3: with --columns relation=own each of the 4 entities of mode relation needs a component; give "
            "--rank 4 or more, or relation a number of columns");
  EXPECT_EQ(
      message([](O o) { o.self_cells = SelfCells::automatic; }),
      "--tie subject=object: none of the ones has the same entity as subject and as object; if an entity cannot relate "
      "to itself, add --self-cells missing (these cells are then left out), otherwise --self-cells zero");
  EXPECT_EQ(message([](O) {}, groups(true)),
            "--self-cells missing: a one has \"p2\" both as subject and as object; use --self-cells zero, or remove "
            "such ones from "
            "the data");
  EXPECT_EQ(message([](O o) {
              o.method = Method::online;
              o.latent = SampleOrMean::mean;
            }),
            "--latent mean does not work with --columns, which draws latent counts; use --latent sample");
}

// Large modes have more columns, until there would be too many factors.
TEST(SharedColumns, DefaultColumnsFollowFromTheSize) {
  for (const auto& [entities, columns] :
       {std::pair{24u, "24"}, {5000u, "100"}, {10000u, "100"}, {14541u, "400"}, {200000u, "200"}, {5000000u, "100"}}) {
    FitOptions options;
    options.tie = {"subject=object"};
    std::vector<ModeSize> modes(2);
    modes[0].name = "subject";
    modes[1].name = "object";
    modes[0].entities = modes[1].entities = entities;
    complete_layout(options, modes, 1000000);
    EXPECT_EQ(options.columns[0], std::string("subject=") + columns);
    EXPECT_EQ(options.rank, 20 * std::stoll(columns));
  }
}

// What is left out follows from the data, and one column is enough for a model.
TEST(SharedColumns, DefaultsFollowFromTheData) {
  const TempDir dir;
  FitOptions options = tied();
  options.columns = {};
  options.rank = -1;
  options.sweeps = 4;
  fit(groups(), options, dir / "auto");
  const FitOptions filled = run_info(dir / "auto").options;
  EXPECT_EQ(filled.columns, (std::vector<std::string>{"subject=24", "relation=own", "object=24"}));
  EXPECT_EQ(filled.rank, 480);
  EXPECT_EQ(filled.beta_mean, 0.5);
  options.columns = {"1"};
  fit(groups(), options, dir / "one");
  EXPECT_EQ(run_info(dir / "one").options.rank, 20);
  options.columns = {"6"};  // in a mode of fewer entities, as many as these
  fit(groups(), options, dir / "six");
  EXPECT_EQ(run_info(dir / "six").options.columns, (std::vector<std::string>{"subject=6", "relation=4", "object=6"}));
}

// Relations have own columns only where nothing stands against it.
TEST(SharedColumns, OwnColumnsAreChosenWhereTheyCanBe) {
  const TempDir dir;
  const auto columns = [&](const auto& change, Dataset data = groups()) {
    FitOptions options = tied();
    options.columns = {};
    options.sweeps = 2;
    change(options);
    fit(std::move(data), options, dir / "run", {}, true);
    return run_info(dir / "run").options.columns[1];
  };
  using O = FitOptions&;
  EXPECT_EQ(columns([](O) {}), "relation=own");
  EXPECT_EQ(columns([](O o) { o.columns = {"subject=5"}; }), "relation=own");
  EXPECT_EQ(columns([](O o) { o.columns = {"relation=2"}; }), "relation=2");
  EXPECT_EQ(columns([](O o) { o.rank = 3; }), "relation=4");
  EXPECT_EQ(columns([](O o) { o.start = Start::prior; }), "relation=4");
  Dataset linked = groups();
  linked.networks.resize(1);
  linked.networks[0].mode = 1;
  for (const std::uint32_t id : {0, 1}) linked.networks[0].edges.push_back(id);
  EXPECT_EQ(columns([](O) {}, std::move(linked)), "relation=4");
}

// --columns auto is for entities that relate to entities: where nothing is tied, model and draws are those of CP.
TEST(SharedColumns, AutoIsCpWhereNothingIsTied) {
  const TempDir dir;
  FitOptions options;
  options.chains = 1;
  options.sweeps = 20;
  options.threads = 1;
  fit(groups(), options, dir / "cp");
  options.columns = {"auto"};
  fit(groups(), options, dir / "auto");
  EXPECT_TRUE(run_info(dir / "auto").options.columns.empty());
  EXPECT_EQ(run_info(dir / "auto").options.rank, run_info(dir / "cp").options.rank);
  EXPECT_FALSE(run_info(dir / "auto").rank_choice.trials.empty());
  EXPECT_TRUE(read_text(dir / "auto" + "/draws.nc") == read_text(dir / "cp" + "/draws.nc"));
}

}  // namespace
}  // namespace ztp
