// Which entities are shown, in which order, and which modes have one.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "errors.hpp"
#include "report/entity_order.hpp"
#include "report/listed_components.hpp"
#include "report/shown_entities.hpp"
#include "report_run.hpp"
#include "ztp/convert.hpp"
#include "ztp/rivals.hpp"

namespace ztp {
namespace {

using test::error_of;
using test::table_of;

struct Looks {
  std::string name;
  std::vector<std::string> labels;
  bool ordered;
};

TEST(OrderTest, WhatLooksOrdered) {
  const std::vector<Looks> table = {
      {"period", {"1950-54", "1955-59", "1990-94"}, true},
      {"x", {"1990-94", "1995-99"}, true},
      {"x", {"1990\u20131994", "1995\u20131999"}, true},
      {"x", {"2020-01-31", "2020-02-01"}, true},
      {"x", {"2020-01-31T12:00", "2020-02-01T09:30"}, true},
      {"x", {"2020-13-41", "2020-02-01"}, false},
      {"x", {"2020-01", "2020-02"}, true},
      {"x", {"2020Q1", "2020Q2"}, true},
      {"x", {"2020-W01", "2020-W02"}, true},
      {"x", {"1990s", "2000s"}, true},
      {"x", {"1990", "1991", "2005"}, true},
      {"x", {"January", "February", "March"}, true},
      {"x", {"Mon", "Tue", "Wed"}, true},
      {"x", {"mon", "jan"}, false},
      {"user", {"17", "4", "23"}, false},
      {"user", {"1001", "1002", "4711"}, false},
      {"author", {"author00001", "author00002"}, false},
      {"word", {"may", "be"}, false},
      {"day", {"1", "2", "3"}, true},
      {"day", {"3", "-1", "0.5"}, true},
      {"day", {"day 1", "day 10", "day 2"}, true},
      {"dayOfYear", {"1", "2"}, true},
      {"Week_number", {"W1", "W2"}, true},
      {"weeks", {"1", "2"}, true},
      {"hour", {"09:00", "10:00"}, true},
      {"day", {"31.12.1999", "01.01.2000"}, false},
      {"day", {"sunny", "rainy"}, false},
      {"daycare", {"1", "2"}, false},
      {"time", {"1"}, false},
      {"year", {"1990", "unknown"}, false},
      {"x", {"low", "high"}, false},
      {"x", {"\xff\xfe", "\xff"}, false},
  };
  for (const Looks& row : table)
    EXPECT_EQ(looks_ordered({row.name, table_of(row.labels)}), row.ordered) << row.name << ": " << row.labels[0];
  EXPECT_TRUE(looks_ordered({"day", LabelTable::numbered(1, 365)}));
  EXPECT_FALSE(looks_ordered({"user", LabelTable::numbered(1, 365)}));
  EXPECT_FALSE(looks_ordered({"user", LabelTable::numbered(1990, 30)}));
  EXPECT_FALSE(looks_ordered({"time", LabelTable::numbered(1, 3001)}));
}

TEST(OrderTest, OrderOfLabels) {
  const auto order = [](const std::vector<std::string>& labels) { return ids_in_order(table_of(labels)); };
  using Ids = std::vector<std::uint32_t>;
  EXPECT_EQ(order({"day 10", "day 9", "day 100"}), (Ids{1, 0, 2}));
  EXPECT_EQ(order({"2020-03-01", "2019-12-31", "2020-02-29"}), (Ids{1, 2, 0}));
  EXPECT_EQ(order({"March", "Jan", "feb"}), (Ids{1, 2, 0}));
  EXPECT_EQ(order({"1e1", "-2", "3.5"}), (Ids{1, 2, 0}));
  EXPECT_EQ(order({"low", "middle", "high"}), (Ids{0, 1, 2}));
  EXPECT_EQ(order({"31.12.1999", "01.01.2000"}), (Ids{0, 1}));
}

TEST(ShownTest, FairShares) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(fair_shares({10, 20, 30}, 60), (Sizes{10, 20, 30}));
  EXPECT_EQ(fair_shares({1000, 3, 1000}, 103), (Sizes{50, 3, 50}));
  EXPECT_EQ(fair_shares({1000, 20, 40}, 60), (Sizes{20, 20, 20}));
  EXPECT_EQ(fair_shares({5, 5}, 1), (Sizes{0, 1}));
}

class ShownRunTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new test::TempDir;
    fit(test::report_data(), test::report_fit(), *dir_ / "run");
    add_rivals();
    FitOptions rival = test::report_fit();
    rival.model = Model::logistic;
    Dataset data = test::report_data();
    data.networks.clear();
    fit(std::move(data), rival, *dir_ / "rival");
  }
  static void TearDownTestSuite() { delete dir_; }
  static inline const test::TempDir* dir_ = nullptr;
};

TEST_F(ShownRunTest, AllEntitiesAndTheirOnes) {
  const ReportOptions options = test::report_options();
  const auto source = test::source_of(*dir_ / "run", options);
  const Dataset data = test::report_data();
  for (std::size_t k = 0; k < 3; ++k) {
    const ShownEntities::ModeEntities& mode = source->shown.modes[k];
    std::vector<std::uint64_t> ones(data.tensor.modes[k].labels.size(), 0);
    for (std::size_t e = 0; e < data.tensor.nnz(); ++e) ++ones[data.tensor.cell(e)[k]];
    EXPECT_EQ(mode.ones, ones);
    ASSERT_EQ(mode.ids.size(), ones.size());
    for (std::uint32_t place = 0; place < mode.ids.size(); ++place) EXPECT_EQ(mode.place_of(mode.ids[place]), place);
  }
  EXPECT_TRUE(source->notes.empty());
  EXPECT_FALSE(source->shown.modes[0].ordered);
  EXPECT_TRUE(source->shown.modes[2].ordered);
  const Json modes = modes_section(*source);
  EXPECT_EQ(modes[2]["labels"],
            (Json{"2020-01", "2020-02", "2020-03", "2020-04", "2020-05", "2020-06"}));  // not as they came
  EXPECT_EQ(modes[2]["ones"][2], source->shown.modes[2].ones[0]);
  EXPECT_EQ(cold_starts(source->shown.modes[0], 10).size(), 2u);
  double sum = 0;
  for (const Json& part : modes[0]["overall"]) sum += part.get<double>();
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST_F(ShownRunTest, OrderAsTheUserSaysAndModesThatAreNone) {
  ReportOptions options = test::report_options();
  options.ordered = {"item"};
  options.unordered = {"sold"};
  const auto source = test::source_of(*dir_ / "run", options);
  EXPECT_TRUE(source->shown.modes[1].ordered);
  EXPECT_FALSE(source->shown.modes[2].ordered);
  EXPECT_EQ(source->shown.modes[2].ids, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  options.ordered = {"items"};
  EXPECT_EQ(error_of([&] { test::source_of(*dir_ / "run", options); }, ErrorKind::usage),
            "--ordered items: there is no such mode; modes of the run: user, item, sold");
  options.ordered = {"sold"};
  EXPECT_EQ(error_of([&] { test::source_of(*dir_ / "run", options); }, ErrorKind::usage),
            "sold is given with --ordered and with --unordered");
}

TEST_F(ShownRunTest, FewEntitiesAreThoseWithMostOnesAndTheTopsOfComponents) {
  // Users have a budget of 7. The mode has fewer entities than a component has tops, so a rival shows what the budget
  // alone gives.
  ReportOptions options = test::report_options();
  options.entities = 20;
  const auto all = test::source_of(*dir_ / "run", options);
  EXPECT_EQ(all->shown.modes[0].ids.size(), 26u);
  const auto source = test::source_of(*dir_ / "rival", options);
  const ShownEntities::ModeEntities& users = source->shown.modes[0];
  std::uint64_t least = UINT64_MAX, most_hidden = 0;
  for (std::uint32_t id = 0; id < 26; ++id) {
    const bool cold = users.ones[id] == 0;
    if (users.place_of(id) && !cold) least = std::min(least, users.ones[id]);
    if (!users.place_of(id)) most_hidden = std::max(most_hidden, users.ones[id]);
    if (cold) {
      EXPECT_TRUE(users.place_of(id));
    }
  }
  EXPECT_GE(least, most_hidden);
  EXPECT_EQ(users.ids.size(), 7u + 2u);
  EXPECT_EQ(source->shown.modes[2].ids.size(), 6u);
  ASSERT_EQ(source->notes.size(), 2u);
  EXPECT_TRUE(source->notes[0].starts_with(
      "Some entities: 9 of the 26 entities of user are shown. They are the 7 with the most ones, "));
  EXPECT_EQ(modes_section(*source)[0]["overall"], nullptr);
}

TEST_F(ShownRunTest, OrderedModesAreShownAsAWhole) {
  ReportOptions options = test::report_options();
  options.entities = 3;
  const auto source = test::source_of(*dir_ / "rival", options);
  EXPECT_EQ(source->shown.modes[1].ids.size(), 1u);
  EXPECT_EQ(source->shown.modes[2].ids, (std::vector<std::uint32_t>{1, 2, 0, 4, 5, 3}));
  EXPECT_EQ(source->notes.size(), 2u);  // of users and items
}

// The same ones in a tensor file.
TEST_F(ShownRunTest, OnesOfATensorFile) {
  const Dataset data = test::report_data();
  {
    std::ofstream text(*dir_ / "ones.tsv");
    for (std::size_t e = 0; e < data.tensor.nnz(); ++e)
      text << data.tensor.cell(e)[0] << '\t' << data.tensor.cell(e)[1] << "\tm" << data.tensor.cell(e)[2] << '\n';
  }
  ReadOptions read;
  read.file = *dir_ / "ones.tsv";
  convert(read, *dir_ / "ones.ztpt");
  read.file = *dir_ / "ones.ztpt";
  read.stream = true;
  FitOptions options = test::report_fit();
  options.method = Method::online;
  options.sweeps = 20;
  fit(read_dataset(read), options, *dir_ / "online");
  const ReportOptions report = test::report_options();
  const auto source = test::source_of(*dir_ / "online", report);
  std::map<std::string, std::uint64_t> ones;
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e) ++ones[std::to_string(data.tensor.cell(e)[0])];
  const Mode& users = source->posterior.modes()[0];
  for (std::uint32_t id = 0; id < users.labels.size(); ++id)
    EXPECT_EQ(source->shown.modes[0].ones[id], ones[users.labels[id]]) << users.labels[id];
  const Json section = entities_section(*source);  // its unseen cells are none of the file's
  for (std::size_t k = 0; k < 3; ++k)
    for (const auto& [place, cells] : section[k]["unseen"].items()) {
      EXPECT_EQ(cells.size(), 5u);
      for (const Json& cell : cells) {
        std::uint32_t ids[3];
        for (std::size_t m = 0; m < 3; ++m)
          ids[m] = static_cast<std::uint32_t>(
              std::stoul(source->posterior.modes()[m]
                             .labels[source->shown.modes[m].ids[cell["cell"][m].get<std::size_t>()]]
                             .substr(m == 2 ? 1 : 0)));
        EXPECT_FALSE(data.tensor.contains(ids));
      }
    }
}

}  // namespace
}  // namespace ztp
