// The components of a report: their numbers are those of Posterior, their map keeps distances, their entities are the
// relevant ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "errors.hpp"
#include "report/classical_scaling.hpp"
#include "report/listed_components.hpp"
#include "report/relevance.hpp"
#include "report_run.hpp"
#include "store/draws_file.hpp"
#include "ztp/rivals.hpp"

namespace ztp {
namespace {

using test::error_of;

Matrix<double> squares_of(const std::vector<std::array<double, 2>>& points) {
  Matrix<double> squared(points.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < points.size(); ++j)
      squared.row(i)[j] = std::pow(points[i][0] - points[j][0], 2) + std::pow(points[i][1] - points[j][1], 2);
  return squared;
}

TEST(ScalingTest, PointsOnALineStayOnIt) {
  const auto places = classical_scaling(squares_of({{0, 0}, {1, 0}, {2, 0}, {7, 0}}));
  const std::vector<double> expected = {-2.5, -1.5, -0.5, 4.5};  // from their middle, the farthest on the positive side
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(places[i][0], expected[i], 1e-9);
    EXPECT_NEAR(places[i][1], 0, 1e-5);
  }
}

TEST(ScalingTest, DistancesInThePlaneAreKept) {
  const std::vector<std::array<double, 2>> points = {{0, 0}, {3, 1}, {-2, 2}, {5, -4}, {1, 1}};
  const Matrix<double> squared = squares_of(points), again = squares_of(classical_scaling(squared));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < points.size(); ++j) EXPECT_NEAR(again.row(i)[j], squared.row(i)[j], 1e-9);
}

TEST(ScalingTest, FewOrIdenticalOnes) {
  EXPECT_TRUE(classical_scaling(Matrix<double>()).empty());
  EXPECT_EQ(classical_scaling(squares_of({{3, 3}})), (std::vector<std::array<double, 2>>{{0, 0}}));
  const auto two = classical_scaling(squares_of({{0, 0}, {0, 4}}));
  EXPECT_NEAR(two[0][0], 2, 1e-9);  // of two that are as far away, the first
  EXPECT_NEAR(two[1][0], -2, 1e-9);
  EXPECT_EQ(two[0][1], 0);
  for (const auto& place : classical_scaling(squares_of({{1, 1}, {1, 1}, {1, 1}}))) EXPECT_EQ(place[0], 0);
}

// 200 entities of any values: the first 30 at a weight, found by sorting all of them.
TEST(RelevanceTest, HoldsTheFirstAtEveryWeightAndNothingElse) {
  std::vector<EntityPart> parts;
  Stream stream(stream_key(3, 0, Purpose::simulate), 0, 0);
  for (std::uint32_t id = 0; id < 200; ++id)
    parts.push_back({id, std::pow(stream.uniform(), 3), std::pow(stream.uniform(), 2)});
  const std::vector<EntityPart> chosen = first_by_relevance(parts, 30);
  std::set<std::uint32_t> expected, found;
  for (int tenth = 0; tenth <= 10; ++tenth) {
    const double weight = tenth / 10.0;
    std::sort(parts.begin(), parts.end(), [&](const EntityPart& a, const EntityPart& b) {
      return weight * std::log(a.value) + (1 - weight) * std::log(a.value / a.overall) >
             weight * std::log(b.value) + (1 - weight) * std::log(b.value / b.overall);
    });
    for (std::size_t i = 0; i < 30; ++i) expected.insert(parts[i].id);
  }
  for (const EntityPart& part : chosen) found.insert(part.id);
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end(),
                             [](const EntityPart& a, const EntityPart& b) { return a.value > b.value; }));
  EXPECT_EQ(first_by_relevance({{5, 0.5, 0.1}}, 30).size(), 1u);
}

TEST(RelevanceTest, CountsBeyondThePrior) {
  const CountsBeyondPrior own(0.1, 100, 40);  // 40 counts among 100 entities
  EXPECT_NEAR(own(0.1 / 50), 0, 1e-12);
  EXPECT_NEAR(own(3.1 / 50), 3, 1e-12);
  EXPECT_EQ(CountsBeyondPrior::least(20), 0.5);
  EXPECT_EQ(CountsBeyondPrior::least(0.6), 0.3);
  EXPECT_EQ(CountsBeyondPrior::least(-0.01), -0.01);
}

class ComponentsTest : public test::ReportRun {
 protected:
  const Json section_ = components_section(*source_);
};

TEST_F(ComponentsTest, NumbersOfPosterior) {
  const std::vector<Component> all = source_->posterior.components(18);
  const Json& list = section_["list"];
  ASSERT_GE(list.size(), 3u);
  EXPECT_EQ(section_["chain"], 1);
  EXPECT_EQ(list.size() + section_["empty"].get<std::size_t>(), 6u);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Component& component = all[i];  // largest weight first
    EXPECT_EQ(list[i]["number"], component.number);
    const auto same = [&](const char* name, double value) {
      EXPECT_NEAR(list[i][name].get<double>(), value, 1e-5 * std::abs(value)) << name;
    };
    same("weight", component.weight);
    same("q05", component.weight_q05);
    same("q95", component.weight_q95);
    same("share", component.share);
    if (component.weight >= weight_of_empty) same("stability", component.stability);
    for (std::size_t k = 0; k < 3; ++k) {  // the same entities first
      const Json& bars = section_["bars"][i][k];
      ASSERT_GE(bars["entity"].size(), 1u);
      for (std::size_t e = 0; e < bars["entity"].size(); ++e) {
        EXPECT_EQ(source_->shown.modes[k].ids[bars["entity"][e].get<std::size_t>()], component.top[k][e].id);
        EXPECT_NEAR(bars["value"][e].get<double>(), component.top[k][e].value, 1e-5 * component.top[k][e].value);
      }
    }
  }
}

// Against the draws themselves: the middle 90 %, which hold the mean of what is not as skewed as a part near zero.
TEST_F(ComponentsTest, IntervalsAndLines) {
  const DrawsFile draws(*dir_ / "run", source_->posterior.info());
  const std::size_t r = section_["list"][0]["number"].get<std::size_t>() - 1;
  const Json& line = section_["lines"][0][2];
  EXPECT_EQ(section_["lines"][0][0], nullptr);
  ASSERT_EQ(line["value"].size(), 6u);
  const std::vector<float> mean = source_->posterior.mean_factor(2);
  for (std::size_t place = 0; place < 6; ++place) {
    const std::uint32_t id = source_->shown.modes[2].ids[place];
    std::vector<double> values;
    Matrix<float> u;
    for (std::size_t i = 0; i < draws.draws().size(); ++i) {
      if (draws.draws()[i].chain != 0) continue;
      draws.load_factor(i, 2, u);
      values.push_back(static_cast<double>(u.row(id)[r]) / 6);
    }
    std::sort(values.begin(), values.end());
    const auto quantile = [&](double q) {
      const double at = q * static_cast<double>(values.size() - 1);
      const std::size_t below = static_cast<std::size_t>(at);
      return values[below] + (at - static_cast<double>(below)) * (values[below + 1] - values[below]);
    };
    EXPECT_NEAR(line["value"][place].get<double>(), static_cast<double>(mean[id * 6 + r]), 1e-4);
    EXPECT_NEAR(line["q05"][place].get<double>(), quantile(0.05), 1e-4);
    EXPECT_NEAR(line["q95"][place].get<double>(), quantile(0.95), 1e-4);
  }
  EXPECT_EQ(error_of(
                [&] {
                  source_->posterior.factor_intervals({{2, 6, 0}});
                },
                ErrorKind::usage),
            "factor_intervals: there is no entity 6 in column 0 of mode 2");
  EXPECT_TRUE(source_->posterior.factor_intervals({}).empty());
}

TEST_F(ComponentsTest, SameForAnyNumberOfThreads) {
  ReportOptions options;
  options.threads = 3;
  const auto source = test::source_of(*dir_ / "run", options);
  EXPECT_EQ(components_section(*source), section_);
  EXPECT_EQ(section_["similarity"]["all"].size(), section_["list"].size());
  EXPECT_EQ(section_["similarity"]["modes"].size(), 3u);
}

TEST_F(ComponentsTest, NoneOfARival) {
  add_rivals();
  FitOptions rival = test::report_fit();
  rival.model = Model::logistic;
  Dataset data = test::report_data();
  data.networks.clear();
  fit(std::move(data), rival, *dir_ / "rival");
  const auto source = test::source_of(*dir_ / "rival", options_);
  EXPECT_EQ(components_section(*source), nullptr);
  EXPECT_EQ(entities_section(*source), nullptr);
}

}  // namespace
}  // namespace ztp
