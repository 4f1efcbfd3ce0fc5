// What a report says of entities: profiles, and unseen cells, which are those of Posterior::recommend.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "report/listed_components.hpp"
#include "report/promising_cells.hpp"
#include "report/top_rows.hpp"
#include "report/unseen_cells.hpp"
#include "report_run.hpp"

namespace ztp {
namespace {

TEST(TopRowsTest, LargestFirst) {
  const std::vector<float> matrix = {0.1f, 5, 0.3f, 2, 0.2f, 5, 0.3f, 1};  // 4 rows of 2
  using Rows = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(top_rows(matrix, 2, {0, 1}, 3), (Rows{{1, 3, 2}, {0, 2, 1}}));
  EXPECT_EQ(top_rows(matrix, 2, {1}, 9), (Rows{{0, 2, 1, 3}}));
  EXPECT_EQ(top_rows(matrix, 2, {1}, 0), (Rows{{}}));
}

using EntitiesTest = test::ReportRun;

// On a run of this size the search finds what the exact one does, for each of the 50 entities.
TEST_F(EntitiesTest, UnseenCellsAreThoseOfRecommend) {
  const Json section = entities_section(*source_);
  const Dataset data = test::report_data();
  const std::vector<std::size_t> listed = listed_components(source_->posterior);
  for (std::size_t k = 0; k < 3; ++k) {
    const ShownEntities::ModeEntities& mode = source_->shown.modes[k];
    EXPECT_EQ(section[k]["unseen_of"], mode.ids.size());  // users without ones among them
    for (std::uint32_t place = 0; place < mode.ids.size(); ++place) {
      const Json& cells = section[k]["unseen"][std::to_string(place)];
      ASSERT_EQ(cells.size(), unseen_of_entity);
      std::vector<std::optional<std::uint32_t>> given(3);
      given[k] = mode.ids[place];
      std::size_t at = 0;
      source_->posterior.recommend(given, unseen_of_entity, [&](const Recommendation& expected) {
        const Json& cell = cells[at++];
        std::vector<std::uint32_t> ids;
        for (std::size_t m = 0; m < 3; ++m)
          ids.push_back(source_->shown.modes[m].ids[cell["cell"][m].get<std::size_t>()]);
        EXPECT_EQ(ids, expected.cell);
        EXPECT_FALSE(data.tensor.contains(ids.data()));
        EXPECT_NEAR(cell["probability"].get<double>(), expected.prediction.probability, 1e-6);
        EXPECT_NEAR(cell["sd"].get<double>(), expected.prediction.sd, 1e-4);
        EXPECT_NEAR(cell["q05"].get<double>(), expected.prediction.q05, 1e-4);
        EXPECT_NEAR(cell["q95"].get<double>(), expected.prediction.q95, 1e-4);
        const Json& why = cell["why"];
        EXPECT_LE(why.size(), expected.parts.size());
        for (std::size_t i = 0; i < why.size(); ++i) {
          EXPECT_EQ(listed[why[i][0].get<std::size_t>()] + 1, expected.parts[i].component);
          EXPECT_NEAR(why[i][1].get<double>(), expected.parts[i].share, 1e-3);
        }
        return true;
      });
    }
  }
}

TEST_F(EntitiesTest, ProfilesAreSharesOfExpectedCounts) {
  const Json section = entities_section(*source_);
  const std::vector<std::size_t> listed = listed_components(source_->posterior);
  const std::vector<double> weights = source_->posterior.mean_weights();
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<float> u = source_->posterior.mean_factor(k);
    const ShownEntities::ModeEntities& mode = source_->shown.modes[k];
    ASSERT_EQ(section[k]["start"].size(), mode.ids.size() + 1);
    EXPECT_EQ(section[k]["start"].back(), section[k]["component"].size());
    for (std::size_t place = 0; place < mode.ids.size(); ++place) {
      double total = 0, last = 1;
      for (std::size_t r = 0; r < 6; ++r) total += weights[r] * static_cast<double>(u[mode.ids[place] * 6 + r]);
      for (std::size_t i = section[k]["start"][place]; i < section[k]["start"][place + 1]; ++i) {
        const std::size_t r = listed[section[k]["component"][i].get<std::size_t>()];
        const double share = section[k]["share"][i].get<double>();
        EXPECT_NEAR(share, weights[r] * static_cast<double>(u[mode.ids[place] * 6 + r]) / total, 1e-3);
        EXPECT_GE(share, 0.01);
        EXPECT_LE(share, last);
        last = share;
      }
    }
  }
}

// Cells with entities that have no place: their labels stand there.
TEST_F(EntitiesTest, EntitiesThatAreNotShown) {
  for (ShownEntities::ModeEntities& mode : source_->shown.modes) {
    mode.ids.resize(4);
    std::fill(mode.places.begin(), mode.places.end(), 0u);
    for (std::uint32_t place = 0; place < 4; ++place) mode.places[mode.ids[place]] = place + 1;
  }
  const Json section = entities_section(*source_);
  std::size_t labels = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(section[k]["unseen"].size(), 4u);
    EXPECT_EQ(section[k]["start"].size(), 5u);
    for (const auto& [place, cells] : section[k]["unseen"].items())
      for (const Json& cell : cells) {
        EXPECT_EQ(cell["cell"][k], std::stoul(place));
        for (std::size_t m = 0; m < 3; ++m)
          if (cell["cell"][m].is_string()) {
            const auto id = source_->posterior.modes()[m].labels.find(cell["cell"][m].get<std::string>());
            EXPECT_FALSE(source_->shown.modes[m].place_of(id.value()));
            ++labels;
          }
      }
  }
  EXPECT_GT(labels, 0u);
}

// Of test cells the outcome is told, of all others nothing.
TEST_F(EntitiesTest, UnseenCellsThatWereHeldOut) {
  FitOptions fitted = test::report_fit();
  fitted.holdout = 0.3;
  const test::TempDir dir;
  fit(test::report_data(), fitted, dir / "run");
  const auto source = test::source_of(dir / "run", options_);
  const std::vector<Mode>& modes = source->posterior.modes();
  std::map<std::vector<std::string>, int> outcome;
  std::ifstream test_file(dir / "run/test.tsv");
  for (std::vector<std::string> labels(4); test_file >> labels[0] >> labels[1] >> labels[2] >> labels[3];)
    if (labels[3] == "0" || labels[3] == "1") outcome[{labels.begin(), labels.begin() + 3}] = labels[3] == "1";
  ASSERT_EQ(outcome.size(), source->posterior.info().test_ones + source->posterior.info().test_zeros);
  std::size_t ones = 0, zeros = 0, others = 0;
  const Json section = entities_section(*source);
  for (std::size_t k = 0; k < 3; ++k)
    for (const auto& [place, cells] : section[k]["unseen"].items())
      for (const Json& cell : cells) {
        std::vector<std::string> labels;
        for (std::size_t m = 0; m < 3; ++m)
          labels.push_back(modes[m].labels[source->shown.modes[m].ids[cell["cell"][m].get<std::size_t>()]]);
        const auto known = outcome.find(labels);
        ASSERT_EQ(cell.contains("held_out"), known != outcome.end());
        if (known == outcome.end()) {
          ++others;
          continue;
        }
        EXPECT_EQ(cell["held_out"], known->second);
        ++(known->second == 1 ? ones : zeros);
      }
  EXPECT_GT(ones, 0u);
  EXPECT_GT(zeros, 0u);
  EXPECT_GT(others, 0u);
  EXPECT_EQ(json_text(entities_section(*source_)).find("held_out"), std::string::npos) << "a run without test cells";
}

// Two modes, and four: as recommend finds them.
class OrdersTest : public testing::TestWithParam<std::size_t> {};

TEST_P(OrdersTest, UnseenCellsAreThoseOfRecommend) {
  const std::size_t K = GetParam();
  Dataset data;
  for (std::size_t k = 0; k < K; ++k)
    data.tensor.modes.push_back({"mode" + std::to_string(k), LabelTable::numbered(0, K == 2 ? 40 : 9)});
  Stream stream(stream_key(11, 0, Purpose::simulate), 0, 0);
  for (std::size_t e = 0; e < 500; ++e) {
    const std::uint32_t group = static_cast<std::uint32_t>(stream.below(3)), n = data.tensor.modes[0].labels.size();
    for (std::size_t k = 0; k < K; ++k)
      data.tensor.coords.push_back(static_cast<std::uint32_t>(stream.below(n / 3)) * 3 + group);
  }
  data.tensor.sort_and_merge();
  const test::TempDir dir;
  fit(std::move(data), test::report_fit(), dir / "run");
  const ReportOptions options = test::report_options();
  const auto source = test::source_of(dir / "run", options);
  const UnseenCells unseen = find_unseen(dir / "run", source->data(), source->posterior, source->shown, source->pool);
  for (std::size_t k = 0; k < K; ++k)
    for (const UnseenCells::Entity& entity : unseen.modes[k]) {
      std::vector<std::optional<std::uint32_t>> given(K);
      given[k] = entity.id;
      double expected = 0, found = 0;  // there may be ties
      source->posterior.recommend(given, unseen_of_entity, [&](const Recommendation& recommendation) {
        expected += recommendation.prediction.probability;
        return true;
      });
      for (const std::size_t e : entity.cells) found += unseen.predictions[e].probability;
      EXPECT_NEAR(found, expected, 1e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, OrdersTest, testing::Values(2, 4));

// More is found where more is asked for, and the first cells stay the first.
TEST_F(EntitiesTest, PromisingCellsUntilThereAreEnoughZeros) {
  const PromisingCells promising(*dir_ / "run", source_->posterior);
  PromisingCells::Scratch scratch;
  const PromisingCells::Found few = promising.of(0, 3, 5, scratch), many = promising.of(0, 3, 50, scratch),
                              all = promising.of(0, 3, 1e9, scratch);
  EXPECT_GE(few.cells.size() / 3, 5u);
  EXPECT_LT(few.cells.size(), many.cells.size());
  EXPECT_FALSE(few.all);
  EXPECT_TRUE(all.all);
  EXPECT_EQ(all.cells.size() / 3, 18u * 6u);
  EXPECT_TRUE(std::equal(few.cells.begin(), few.cells.end(), all.cells.begin()));
}

}  // namespace
}  // namespace ztp
