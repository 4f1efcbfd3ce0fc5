// The parts of a report that tell of runs, chains, test cells, replicates and networks, and comparisons: of small fits.
#include "report/sections.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "base/file.hpp"
#include "base/random.hpp"
#include "errors.hpp"
#include "report/compare.hpp"
#include "report/listed_components.hpp"
#include "report/numbers.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/rivals.hpp"

namespace ztp {
namespace {

// Blocks of 10 users, items and days, half of whose cells are ones; users of a block know each other, and one of them
// knows a user who has done nothing.
Dataset data_of(std::uint64_t seed) {
  Dataset data;
  for (const char* name : {"user", "item", "day"}) data.tensor.modes.push_back({name, LabelTable()});
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  for (std::size_t block = 0; block < 3; ++block)
    for (std::size_t cell = 0; cell < 1000; ++cell) {
      if (stream.uniform() < 0.5) continue;
      const std::size_t digits[] = {cell / 100, cell / 10 % 10, cell % 10};
      for (std::size_t k = 0; k < 3; ++k)
        data.tensor.coords.push_back(data.tensor.modes[k].labels.add(
            fmt::format("{}\xff{}", data.tensor.modes[k].name, 10 * block + digits[k])));  // not UTF-8
    }
  Network network;
  const std::uint32_t lonely = data.tensor.modes[0].labels.add("nothing done");
  network.source = "friends.tsv";
  for (std::uint32_t i = 0; i < lonely; ++i)
    for (std::uint32_t j = i + 1; j < lonely; ++j)
      if (i / 10 == j / 10) {
        network.edges.push_back(i);
        network.edges.push_back(j);
      }
  network.edges.push_back(0);
  network.edges.push_back(lonely);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::size_t e = 0; e < network.edges.size(); e += 2) edges.emplace_back(network.edges[e], network.edges[e + 1]);
  std::sort(edges.begin(), edges.end());
  network.edges.resize(0);
  for (const auto& [i, j] : edges) {
    network.edges.push_back(i);
    network.edges.push_back(j);
  }
  data.networks.push_back(std::move(network));
  data.tensor.sort_and_merge();
  return data;
}

FitOptions options_of(std::uint64_t seed) {
  FitOptions options;
  options.rank = 5;
  options.sweeps = 400;
  options.chains = 2;
  options.holdout = 0.1;
  options.seed = seed;
  options.threads = 1;
  return options;
}

class SectionsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new test::TempDir;
    FitCallbacks typed;
    typed.command = "ztp fit ones.tsv --rank 5 --keep-every=4";
    FitOptions options = options_of(3);
    options.keep_every = 4;
    fit(data_of(3), options, *dir_ / "run", typed);
    fit(data_of(3), options_of(4), *dir_ / "other");
    FitOptions plain = options_of(3);
    plain.chains = 1;
    plain.holdout = 0;
    Dataset without_network = data_of(5);
    without_network.networks.clear();
    fit(std::move(without_network), plain, *dir_ / "plain");
    add_rivals();
    for (const Model model : {Model::logistic, Model::quad}) {
      FitOptions rival = options_of(3);
      rival.model = model;
      rival.sweeps = 60;
      rival.chains = 1;
      Dataset data = data_of(3);
      data.networks.clear();
      fit(std::move(data), rival, *dir_ / name_of(model));
    }
  }
  static void TearDownTestSuite() { delete dir_; }

  std::unique_ptr<ReportSource> source_of(const std::string& name) {
    auto source =
        std::unique_ptr<ReportSource>(new ReportSource{*dir_ / name, report_, Posterior(*dir_ / name, 1), {}, {}});
    source->shown = choose_shown_entities(source->data(), source->posterior, report_, source->notes);
    return source;
  }
  ReportOptions report_ = [] {
    ReportOptions options;
    options.threads = 1;
    return options;
  }();
  static test::TempDir* dir_;
};
test::TempDir* SectionsTest::dir_ = nullptr;

void expect_finite(const Json& json, const std::string& where) {
  if (json.is_number_float()) {
    EXPECT_TRUE(std::isfinite(json.get<double>())) << where;
  }
  if (json.is_structured())
    for (const auto& item : json.items()) expect_finite(item.value(), where + "/" + item.key());
}

TEST_F(SectionsTest, HoldNumbersOnlyForEveryKindOfRun) {
  for (const char* name : {"run", "plain", "logistic", "quad"}) {
    const auto source = source_of(name);
    for (const auto section : {run_section, diagnostics_section, fit_section, checks_section, networks_section}) {
      const Json json = section(*source);
      expect_finite(json, name);
      EXPECT_FALSE(json_text(json).empty());  // labels that are not UTF-8, too
    }
  }
}

TEST_F(SectionsTest, TheRunAndWhatWasChosen) {
  const Json run = run_section(*source_of("run"));
  EXPECT_EQ(run["seed"], "3");
  EXPECT_EQ(run["volume"], 31 * 30 * 30);
  EXPECT_NEAR(run["density"].get<double>(), run["ones"].get<double>() / (31 * 30 * 30), 1e-6);
  EXPECT_EQ(run["chains"].size(), 2u);
  const auto changed = [&](const char* option) {
    return std::find(run["changed"].begin(), run["changed"].end(), option) != run["changed"].end();
  };
  EXPECT_TRUE(changed("rank") && changed("holdout") && changed("keep_every") && changed("seed"));
  EXPECT_FALSE(changed("burn_in") || changed("sampler") || changed("beta_mean") || changed("gamma_shape"));
  std::string names;
  for (const Json& option : run["options"]) names += option[0].get<std::string>() + " ";
  EXPECT_TRUE(test::holds(names, "network_beta_mean"));
  EXPECT_EQ(names.find("kappa"), std::string::npos) << "an option of online fits";
  EXPECT_EQ(names.find("ridge"), std::string::npos) << "an option of rivals";
}

TEST_F(SectionsTest, MetricsAreThoseOfEvaluate) {
  for (const char* name : {"run", "logistic"}) {
    const auto source = source_of(name);
    const Metrics metrics = source->posterior.evaluate();
    const Json fit = fit_section(*source);
    for (const MetricField& field : metric_fields())
      EXPECT_EQ(fit["metrics"][field.key], number(metrics.*field.member, precise));
    EXPECT_EQ(fit["ones"], metrics.ones);
    EXPECT_EQ(fit["zeros"], metrics.zeros);
    EXPECT_EQ(fit["representative"], false);
    EXPECT_EQ(fit["weighted"].size(), 20u);
    EXPECT_GE(fit["roc"].size(), 3u);
  }
  EXPECT_TRUE(fit_section(*source_of("plain")).is_null());
}

TEST_F(SectionsTest, TestCellsOfAFile) {
  const std::string file = *dir_ / "cells.tsv";
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += fmt::format("user\xff{}\titem\xff{}\tday\xff{}\t{}\n", i, (7 * i) % 30, i, i % 10 == 0 ? 1 : 0);
  write_text(file, text);
  report_.test = file;
  const auto source = source_of("plain");
  const Json fit = fit_section(*source);
  EXPECT_EQ(fit["source"], "cells.tsv");
  EXPECT_EQ(fit["ones"], 3);
  EXPECT_EQ(fit["calibrated"], "unknown");
  EXPECT_EQ(fit["metrics"]["brier"], number(source->posterior.evaluate(file).brier, precise));
}

TEST_F(SectionsTest, TracesAndRanks) {
  const Json shown = diagnostics_section(*source_of("run"));
  const Diagnosis diagnosis = diagnose(*dir_ / "run");
  EXPECT_EQ(shown["verdict"], name_of(diagnosis.verdict));
  EXPECT_EQ(shown["chains"], (Json{1, 2}));
  EXPECT_EQ(shown["watched"], diagnosis.cells.size());
  EXPECT_EQ(shown["quantities"].size(), diagnosis.quantities.size() + diagnosis.cells.size());
  EXPECT_FALSE(shown["quantities"][diagnosis.quantities.size()]["chosen"].get<std::string>().empty());
  EXPECT_EQ(shown["traces"][0]["name"], "log-likelihood");
  for (const Json& trace : shown["traces"])
    for (const Json& chain : trace["chains"]) {
      EXPECT_LE(chain["sweep"].size(), 400u);
      EXPECT_EQ(chain["sweep"].size(), chain["value"].size());
      EXPECT_EQ(chain["sweep"].back(), 400);
    }
  EXPECT_GE(shown["ranks"].size(), 4u);
  for (const Json& ranks : shown["ranks"]) {
    EXPECT_EQ(ranks["of"], "chains");
    for (const Json& bins : ranks["bins"]) {
      std::uint64_t sum = 0;
      for (const Json& bin : bins) sum += bin.get<std::uint64_t>();
      EXPECT_EQ(sum, ranks["draws"].get<std::uint64_t>());
    }
  }
  for (const Json& chain : shown["occupied"]["chains"]) {
    double sum = 0;
    for (const Json& number : chain) sum += number[1].get<double>();
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST_F(SectionsTest, OneChainIsComparedWithItself) {
  const Json shown = diagnostics_section(*source_of("plain"));
  EXPECT_EQ(shown["ranks"][0]["of"], "halves");
  EXPECT_EQ(shown["ranks"][0]["bins"].size(), 2u);
  EXPECT_EQ(shown["ranks"][0]["draws"], 100);
  EXPECT_TRUE(diagnostics_section(*source_of("quad")).is_null());
}

TEST_F(SectionsTest, TheDataAreAmongReplicates) {
  const Json checks = checks_section(*source_of("run"));
  EXPECT_EQ(checks["replicates"], 20);
  EXPECT_NEAR(checks["covers"].get<double>(), 19.0 / 21, 1e-6);
  ASSERT_EQ(checks["degrees"].size(), 3u);
  for (const Json& mode : checks["degrees"]) {
    EXPECT_EQ(mode["at_least"][0], 1);
    EXPECT_LE(mode["at_least"].size(), 40u);
    EXPECT_EQ(mode["observed"][0], 30);
    EXPECT_EQ(mode["observed"].back(), 0);
    // By chance alone the blocks' uniform density may leave the narrow band at some degrees, but not at most of them.
    EXPECT_GT(mode["inside"].get<double>(), 0.5);
  }
  ASSERT_EQ(checks["pairs"].size(), 3u);
  const std::uint64_t entities[] = {31, 30, 30};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(checks["pairs"][k]["entities"], entities[k]);
    EXPECT_EQ(checks["pairs"][k]["pairs"], entities[k] * (entities[k] - 1) / 2);
    EXPECT_EQ(checks["pairs"][k]["share"], 1);
    EXPECT_NE(checks["pairs"][k]["shared"]["place"], "far");
  }
  ASSERT_EQ(checks["changes"].size(), 1u);
  EXPECT_EQ(checks["changes"][0]["mode"], 2);
  EXPECT_NE(checks["changes"][0]["changes"]["place"], "far");
  EXPECT_TRUE(checks_section(*source_of("logistic")).is_null());
}

TEST_F(SectionsTest, NetworksAndColdStarts) {
  const auto source = source_of("run");
  const Json networks = networks_section(*source);
  ASSERT_EQ(networks.size(), 1u);
  const Json& network = networks[0];
  EXPECT_EQ(network["edges"], 3 * 45 + 1);
  EXPECT_EQ(network["connected"], 31);
  const std::vector<std::size_t> listed = listed_components(source->posterior);
  EXPECT_EQ(network["components"].size(), listed.size());
  EXPECT_GE(listed.size(), 3u);
  double beta = 0;
  for (const Json& component : network["components"]) beta += component["beta"].get<double>();
  EXPECT_GT(beta, 30);
  EXPECT_EQ(network["cold"]["count"], 1);
  EXPECT_EQ(network["cold"]["list"][0], (Json{{"entity", 30}, {"neighbours", 1}, {"missing", false}}));
  EXPECT_EQ(network["graph"]["nodes"].size(), 31u);
  EXPECT_EQ(network["graph"]["edges"].size(), 3u * 45 + 1);
  EXPECT_EQ(network["graph"]["all"], true);
  EXPECT_EQ(networks_section(*source_of("plain")), Json::array());
}

TEST_F(SectionsTest, ARunComparedWithItselfIsTheSame) {
  const Json same = compare_runs(*dir_ / "run", *dir_ / "run", report_);
  expect_finite(same, "same");
  EXPECT_NEAR(same["agreement"].get<double>(), 1, 1e-3);
  EXPECT_TRUE(same["options"].empty());
  for (const Json& match : same["matches"]) {
    EXPECT_NEAR(match["overlap"].get<double>(), 1, 1e-3);
    EXPECT_EQ(match["a"], match["b"]);
    for (const Json& differs : match["differs"]) EXPECT_TRUE(differs.empty());
  }
  EXPECT_EQ(same["runs"][0]["test_same"], true);
  EXPECT_EQ(same["runs"][0]["metrics"], same["runs"][1]["metrics"]);
  EXPECT_EQ(same["sentences"][0], "Both were fitted to the same data.");
}

TEST_F(SectionsTest, AnotherSeedIsAnotherSplitWithNearlyTheSameComponents) {
  const Json both = compare_runs(*dir_ / "run", *dir_ / "other", report_);
  expect_finite(both, "both");
  EXPECT_LT(both["agreement"].get<double>(), 0.9999);
  EXPECT_GT(both["agreement"].get<double>(), 0.5);
  EXPECT_GE(both["matches"].size(), 3u);
  EXPECT_EQ(both["matches"][0]["entities"].size(), 3u);
  EXPECT_GE(both["matches"][0]["entities"][0].size(), 10u);
  EXPECT_EQ(both["matches"][0]["differs"][0].size(), 6u);
  EXPECT_EQ(both["runs"][0]["test_same"], false);
  const std::string text = json_text(both["sentences"]);
  EXPECT_TRUE(test::holds(text, "it may be another split"));
  EXPECT_TRUE(test::holds(text, "--seed 3 and 4"));
  EXPECT_TRUE(test::holds(text, "the accuracy cannot be compared"));
  EXPECT_TRUE(
      test::holds(test::error_of([&] { compare_runs(*dir_ / "run", *dir_ / "logistic", report_); }, ErrorKind::config),
                  "factors can be negative"));
}

}  // namespace
}  // namespace ztp
