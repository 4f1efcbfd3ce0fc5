// Two runs of which some components are the same, with entities that one of them alone has.
#include "report/compare.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "errors.hpp"
#include "report/listed_components.hpp"
#include "report_run.hpp"

namespace ztp {
namespace {

// The other run has the items of the last group exchanged for others, one user less and one month more.
Dataset other_data() {
  Dataset data = test::report_data();
  data.networks.clear();
  data.tensor.modes[0].labels = LabelTable::numbered(1, 25);
  data.tensor.modes[2].labels.add("2019-12");
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e)
    if (data.tensor.coords[3 * e] % 3 == 2) data.tensor.coords[3 * e + 1] = (data.tensor.coords[3 * e + 1] + 1) % 18;
  data.tensor.sort_and_merge();
  return data;
}

class CompareTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new test::TempDir;
    fit(test::report_data(), test::report_fit(), *dir_ / "run");
    fit(other_data(), test::report_fit(), *dir_ / "other");
    both_ = new Json(compare_runs(*dir_ / "run", *dir_ / "other", test::report_options()));
  }
  static void TearDownTestSuite() {
    delete both_;
    delete dir_;
  }
  static inline const test::TempDir* dir_ = nullptr;
  static inline const Json* both_ = nullptr;
};

// Whatever list an entity is in, both values are those of the factors; null, if a run has no such entity or component.
TEST_F(CompareTest, ValuesOfBothRuns) {
  Posterior posteriors[] = {Posterior(*dir_ / "run", 1), Posterior(*dir_ / "other", 1)};
  const char* sides[] = {"a", "b"};
  std::size_t nulls = 0;
  for (const Json& match : (*both_)["matches"])
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t side = 0; side < 2; ++side) {
        const std::vector<float> u = posteriors[side].mean_factor(k);
        const LabelTable& labels = posteriors[side].modes()[k].labels;
        const auto expect_value = [&](const Json& label, const Json& value) {
          const auto id = labels.find(label.get<std::string>());
          if (match[sides[side]].is_null() || !id) {
            EXPECT_TRUE(value.is_null());
            ++nulls;
          } else {
            const std::size_t r = match[sides[side]]["number"].get<std::size_t>() - 1;
            const double expected = static_cast<double>(u[*id * 6 + r]);
            EXPECT_NEAR(value.get<double>(), expected, 1e-3 * expected);
          }
        };
        std::vector<std::string> seen;
        double last = 1;
        for (const Json& entity : match["entities"][k]) {
          expect_value(entity[0], entity[1 + side]);
          seen.push_back(entity[0]);
          const double larger = std::max(entity[1].is_null() ? 0 : entity[1].get<double>(),
                                         entity[2].is_null() ? 0 : entity[2].get<double>());
          EXPECT_LE(larger, last);
          last = larger;
        }
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "an entity is there twice";
        EXPECT_GE(seen.size(), std::min<std::size_t>(labels.size(), match[sides[side]].is_null() ? 0 : 10));
        const Json& line = match["lines"][k];
        if (k < 2) {
          EXPECT_TRUE(line.is_null());
          continue;
        }
        EXPECT_EQ(line["labels"], (Json{"2019-12", "2020-01", "2020-02", "2020-03", "2020-04", "2020-05", "2020-06"}));
        if (match[sides[side]].is_null()) {
          EXPECT_TRUE(line[sides[side]].is_null());
        } else {
          for (std::size_t i = 0; i < 7; ++i) expect_value(line["labels"][i], line[sides[side]][i]);
        }
      }
  EXPECT_GT(nulls, 0u);
}

TEST_F(CompareTest, ComponentsThatAreNotAlikeAreAlone) {
  EXPECT_EQ((*both_)["same"], 0.8);
  EXPECT_EQ((*both_)["alike"], 0.5);
  std::vector<std::size_t> numbers[2];
  std::size_t pairs = 0, alone = 0;
  double last = 1;
  for (const Json& match : (*both_)["matches"]) {
    const Json &a = match["a"], &b = match["b"];
    if (!a.is_null()) numbers[0].push_back(a["number"]);
    if (!b.is_null()) numbers[1].push_back(b["number"]);
    double share = 0;
    for (const Json* side : {&a, &b})
      if (!side->is_null()) share = std::max(share, (*side)["weight_share"].get<double>());
    EXPECT_LE(share, last);
    last = share;
    if (!a.is_null() && !b.is_null()) {
      ++pairs;
      EXPECT_GE(match["overlap"].get<double>(), 0.5);
      EXPECT_TRUE(match["nearest"].is_null());
      continue;
    }
    ++alone;
    EXPECT_LT(match["overlap"].get<double>(), 0.5);
    for (const Json& differs : match["differs"]) EXPECT_TRUE(differs.empty());
  }
  EXPECT_GE(pairs, 2u);  // two of three groups
  EXPECT_GE(alone, 2u);  // the third, in either run
  for (std::size_t side = 0; side < 2; ++side) {
    Posterior posterior(*dir_ / (side == 0 ? "run" : "other"), 1);
    std::sort(numbers[side].begin(), numbers[side].end());
    std::vector<std::size_t> used;
    for (const Component& component : posterior.components(0))
      if (component.weight >= weight_of_empty) used.push_back(component.number);
    std::sort(used.begin(), used.end());
    EXPECT_EQ(numbers[side], used) << "each component once";
  }
}

// The name that the page gives a component of a run: of each mode without an order, what is first at relevance 0.6.
TEST_F(CompareTest, NamesAreThoseOfTheirOwnReports) {
  for (const std::size_t side : {0, 1}) {
    const ReportOptions options = test::report_options();
    const auto source = test::source_of(*dir_ / (side == 0 ? "run" : "other"), options);
    const Json components = components_section(*source), modes = modes_section(*source);
    for (std::size_t i = 0; i < components["list"].size(); ++i) {
      Json name = Json::array();
      for (std::size_t k = 0; k < 2; ++k) {
        const Json& bars = components["bars"][i][k];
        double most = -INFINITY;
        std::size_t place = 0;
        for (std::size_t e = 0; e < bars["entity"].size(); ++e) {
          const std::size_t entity = bars["entity"][e];
          const double score =
              std::log(bars["value"][e].get<double>()) - 0.4 * std::log(modes[k]["overall"][entity].get<double>());
          if (score > most) place = entity;
          most = std::max(most, score);
        }
        name.push_back(modes[k]["labels"][place]);
      }
      for (const Json& match : (*both_)["matches"])
        if (const Json& shown = match[side == 0 ? "a" : "b"];
            !shown.is_null() && shown["number"] == components["list"][i]["number"]) {
          EXPECT_EQ(shown["name"], name);
        }
    }
  }
}

TEST_F(CompareTest, InWords) {
  const std::string text = json_text((*both_)["sentences"], -1);
  EXPECT_TRUE(test::holds(text, "Entities that only run has: 1 of user."));
  EXPECT_TRUE(test::holds(text, "Entities that only other has: 1 of sold."));
  EXPECT_TRUE(test::holds(text, "Components of run that have no counterpart in other: "));
  EXPECT_TRUE(test::holds(text, "\u00a0% of its weight"));
  EXPECT_EQ(text.find(" 1 smaller ones"), std::string::npos);
  EXPECT_EQ(text.find(" 1 components"), std::string::npos);
}

}  // namespace
}  // namespace ztp
