// The section of columns and the core, and the sections that go by columns where components share them. Data have the
// seed 7 and the fit the seed 1: deterministic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "model/self_cells.hpp"
#include "report/compare.hpp"
#include "report/numbers.hpp"
#include "report_run.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t people = 18, relations = 3;

// Three groups: relation l leads from group g to g + l. The last one is never a subject, and the first never an object;
// friends are of the same group.
Dataset groups_data() {
  Dataset data;
  LabelTable names;
  for (std::uint32_t i = 0; i < people; ++i) names.add(fmt::format("p{}", i));
  data.tensor.modes = {{"subject", names}, {"relation", test::table_of({"likes", "knows", "owes"})}, {"object", names}};
  Stream stream(stream_key(7, 0, Purpose::simulate), 0, 0);
  for (std::uint32_t i = 0; i + 1 < people; ++i)
    for (std::uint32_t l = 0; l < relations; ++l)
      for (std::uint32_t j = 1; j < people; ++j)
        if (i != j && stream.uniform() < ((i + l) % 3 == j % 3 ? 0.8 : 0.03))
          for (const std::uint32_t id : {i, l, j}) data.tensor.coords.push_back(id);
  Network friends;
  friends.source = "friends.tsv";
  for (std::uint32_t i = 0; i < people; ++i)
    for (std::uint32_t j = i + 3; j < people; j += 6)
      for (const std::uint32_t id : {i, j}) friends.edges.push_back(id);
  data.networks.push_back(std::move(friends));
  return data;
}

FitOptions shared_fit(bool own) {
  FitOptions options;
  options.columns = {"subject=5", own ? "relation=own" : "relation=3"};
  options.tie = {"subject=object"};
  options.self_cells = SelfCells::missing;
  options.rank = 40;
  options.sweeps = 120;
  options.chains = 2;
  options.holdout = 0.1;
  options.threads = 1;
  return options;
}

class ColumnsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new test::TempDir;
    fit(groups_data(), shared_fit(true), *dir_ / "own");
    fit(groups_data(), shared_fit(false), *dir_ / "learned");
  }
  static void TearDownTestSuite() { delete dir_; }
  static inline const test::TempDir* dir_ = nullptr;
  const ReportOptions options_ = test::report_options();
  std::unique_ptr<ReportSource> source_of(const char* name) { return test::source_of(*dir_ / name, options_); }
};

TEST_F(ColumnsTest, NumbersOfPosterior) {
  for (const char* name : {"own", "learned"}) {
    const auto source = source_of(name);
    const Json section = columns_section(*source);
    ASSERT_TRUE(components_section(*source).is_null());
    const bool own = std::string(name) == "own";
    EXPECT_EQ(section["matrices"].size(), 2u);
    EXPECT_EQ(section["matrices"][0], (Json{{"modes", {0, 2}}, {"columns", 5}, {"own", false}}));
    EXPECT_EQ(section["matrices"][1]["own"], own);
    std::size_t i = 0;
    for (const std::size_t k : {0, 1}) {
      if (k == 1 && own) continue;
      for (const Column& column : source->posterior.columns(k, people)) {
        if (column.weight < weight_of_empty) continue;
        const Json &shown = section["list"][i], &bars = section["bars"][i];
        EXPECT_EQ(shown["matrix"], k);
        EXPECT_EQ(shown["number"], column.number);
        EXPECT_EQ(shown["weight"], number(column.weight, precise));
        EXPECT_EQ(shown["q05"], number(column.weight_q05, precise));
        EXPECT_EQ(shown["stability"], number(column.stability));
        ASSERT_GE(bars["entity"].size(), 1u);
        for (std::size_t e = 0; e < bars["entity"].size(); ++e) {
          EXPECT_EQ(source->shown.modes[k].ids[bars["entity"][e].get<std::size_t>()], column.top[e].id);
          EXPECT_EQ(bars["value"][e], number(column.top[e].value));
          EXPECT_LE(bars["q05"][e].get<double>(), bars["q95"][e].get<double>());
        }
        ++i;
      }
    }
    EXPECT_EQ(section["list"].size(), i);
  }
}

// Each entry leads back to the columns and the entity that Posterior::core has.
TEST_F(ColumnsTest, TheCore) {
  const auto source = source_of("own");
  const Json section = columns_section(*source);
  const std::vector<CoreEntry> core = source->posterior.core();
  const Json& shown = section["core"];
  ASSERT_EQ(shown["entries"].size(), core.size());
  EXPECT_EQ(shown["of"], core.size());
  for (std::size_t e = 0; e < core.size(); ++e) {
    for (const std::size_t k : {0, 2})
      EXPECT_EQ(section["list"][shown["entries"][e][k].get<std::size_t>()]["number"], core[e].columns[k]);
    EXPECT_EQ(source->shown.modes[1].ids[shown["entries"][e][1].get<std::size_t>()] + 1, core[e].columns[1]);
    EXPECT_EQ(shown["weight"][e], number(core[e].weight, precise));
    EXPECT_EQ(shown["q95"][e], number(core[e].weight_q95, precise));
    EXPECT_EQ(shown["stability"][e], number(core[e].stability));
  }
}

// The parts of an entity add up to nearly one, the small ones being left out, and are the same in both tied modes. All
// parts of a mode's entities add up to one.
TEST_F(ColumnsTest, ProfilesAndOverall) {
  const auto source = source_of("own");
  const Json entities = entities_section(*source), modes = modes_section(*source);
  EXPECT_EQ(entities[0]["share"], entities[2]["share"]);
  EXPECT_EQ(entities[0]["component"], entities[2]["component"]);
  EXPECT_TRUE(entities[1]["component"].empty());
  for (std::size_t j = 0; j < people; ++j) {
    double sum = 0;
    for (auto i = entities[0]["start"][j].get<std::size_t>(); i < entities[0]["start"][j + 1].get<std::size_t>(); ++i)
      sum += entities[0]["share"][i].get<double>();
    EXPECT_NEAR(sum, 1, 0.06) << j;
  }
  for (const Json& mode : modes) {
    double sum = 0;
    for (const Json& part : mode["overall"]) sum += part.get<double>();
    EXPECT_NEAR(sum, 1, 1e-4) << mode["name"];
  }
}

// The cells, probabilities and reasons of recommend, for every entity of every mode; never (i, i), which cannot be.
TEST_F(ColumnsTest, UnseenCellsAreThoseOfRecommend) {
  for (const char* name : {"own", "learned"}) {
    const auto source = source_of(name);
    const Json section = columns_section(*source), entities = entities_section(*source);
    const bool own = std::string(name) == "own";
    for (std::size_t k = 0; k < 3; ++k)
      for (const auto& [place, cells] : entities[k]["unseen"].items()) {
        std::vector<std::optional<std::uint32_t>> given(3);
        given[k] = source->shown.modes[k].ids[std::stoul(place)];
        std::size_t i = 0;
        source->posterior.recommend(given, 5, [&](const Recommendation& found) {
          const Json& cell = cells[i++];
          for (std::size_t l = 0; l < 3; ++l)
            EXPECT_EQ(source->shown.modes[l].ids[cell["cell"][l].get<std::size_t>()], found.cell[l]) << name << place;
          EXPECT_NE(found.cell[0], found.cell[2]);
          EXPECT_EQ(cell["probability"], number(found.prediction.probability));
          EXPECT_LE(cell["why"].size(), found.parts.size());
          for (std::size_t part = 0; part < cell["why"].size(); ++part) {
            EXPECT_EQ(cell["why"][part][1], number(found.parts[part].share));
            for (const std::size_t l : {0, 1, 2})
              if (l != 1 || !own) {
                const Json& entry = cell["why"][part][0];
                EXPECT_EQ(section["list"][entry[l].get<std::size_t>()]["number"], found.parts[part].columns[l]);
              }
          }
          return true;
        });
        EXPECT_EQ(i, cells.size());
      }
  }
}

// Who has ones in the other of the tied modes is no cold start, and a network of one is that of both.
TEST_F(ColumnsTest, TiedModesAreOne) {
  const auto source = source_of("own");
  EXPECT_EQ(source->shown.modes[0].ones[people - 1], 0u);
  EXPECT_TRUE(cold_starts(source->shown.modes[0], 100).empty());
  EXPECT_EQ(source->shown.modes[0].neighbours, source->shown.modes[2].neighbours);
  const Json networks = networks_section(*source);
  EXPECT_EQ(networks[0]["cold"]["count"], 0);
  EXPECT_EQ(networks[0]["components"].size(), columns_section(*source)["list"].size());
}

TEST_F(ColumnsTest, SelfCellsAreNotDrawn) {
  const FactorLayout tied({0, 1, 0}, {{4, 2}, {2, 2}}, 2, {{0, 1}, {0, 1}, {1, 0}});
  const std::uint32_t self[] = {3, 1, 3}, other[] = {3, 1, 2};
  EXPECT_TRUE(MissingSelfCells(tied, true).contains(self));
  EXPECT_FALSE(MissingSelfCells(tied, true).contains(other));
  EXPECT_FALSE(MissingSelfCells(tied, false).contains(self));
  EXPECT_FALSE(MissingSelfCells(FactorLayout::cp({4, 2, 4}, 2), true).contains(self));
  const Json checks = checks_section(*source_of("own"));
  for (const Json& mode : checks["degrees"]) EXPECT_GE(mode["inside"].get<double>(), 0.5);
}

TEST_F(ColumnsTest, ComparedByColumns) {
  const Json self = compare_runs(*dir_ / "own", *dir_ / "own", options_);
  EXPECT_NEAR(self["agreement"].get<double>(), 1, 0.05);  // entries below half a count are left out
  for (const Json& match : self["matches"]) {
    EXPECT_EQ(match["modes"], Json{0});
    EXPECT_EQ(match["a"], match["b"]);
    EXPECT_NEAR(match["overlap"].get<double>(), 1, 1e-3);
    EXPECT_EQ(match["entities"].size(), 1u);
  }
  const Json both = compare_runs(*dir_ / "own", *dir_ / "learned", options_);
  EXPECT_EQ(both["runs"][0]["components"]["word"], "column");
  EXPECT_GE(both["matches"].size(), 3u);
  FitOptions cp = test::report_fit();
  fit(groups_data(), cp, *dir_ / "cp");
  const Json mixed = compare_runs(*dir_ / "own", *dir_ / "cp", options_);
  EXPECT_TRUE(mixed["matches"].empty());
  EXPECT_TRUE(mixed["agreement"].is_null());
  EXPECT_EQ(mixed["runs"][1]["components"]["word"], "component");
}

}  // namespace
}  // namespace ztp
