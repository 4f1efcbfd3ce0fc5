// Probabilities that are calibrated with held-out cells, the head of the list, and popularity, of real fits. Data and
// fits are functions of their seeds: deterministic.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "errors.hpp"
#include "evaluate/test_design.hpp"
#include "planted.hpp"
#include "posterior/calibration.hpp"
#include "posterior/popularity.hpp"
#include "store/calibration_file.hpp"
#include "store/data.hpp"
#include "temp_dir.hpp"
#include "ztp/rivals.hpp"

namespace ztp {
namespace {

using test::error_of;
using test::holds;
using test::TempDir;
using Given = std::vector<std::optional<std::uint32_t>>;

// A planted tensor, fitted with too few components and short chains: its own probabilities are not right.
class CalibratedRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir;
    SimulateOptions options;
    options.dims = {120, 80, 20};
    options.ones = 8000;
    options.rank = 8;
    options.seed = 5;
    Simulated simulated = simulate(options);
    fit_to(test::as_dataset(simulated), *dir_ / "run", 0.2);
  }
  static void TearDownTestSuite() { delete dir_; }

  static void fit_to(Dataset data, const std::string& run, double holdout, Likelihood likelihood = Likelihood::binary) {
    FitOptions options;
    options.rank = 4;
    options.sweeps = 60;
    options.chains = 4;
    options.holdout = holdout;
    options.threads = 2;
    options.sampler = Sampler::plain;
    options.likelihood = likelihood;
    fit(std::move(data), options, run);
  }
  static inline const TempDir* dir_ = nullptr;
  Posterior posterior_{*dir_ / "run", 2};
};

// Zeros are drawn in two ways, uniformly and by rate, and weighted so that they stand for all: the sum of their weights
// is that of the held-out part of all zeros. It varies: 10 % are six standard errors.
TEST_F(CalibratedRun, WeightsOfDrawnZerosAddUpToAllZeros) {
  const RunInfo& info = posterior_.info();
  const auto sample = load_calibration(*dir_ / "run", info);
  ASSERT_TRUE(sample && sample->map);
  const TestDesign design = design_of(info, true, info.test_ones, info.test_zeros);
  double weight = 0, ones = 0;
  for (std::size_t e = 0; e < sample->size(); ++e) (sample->outcome[e] != 0 ? ones : weight) += sample->weight[e];
  EXPECT_EQ(ones, static_cast<double>(info.test_ones));
  EXPECT_NEAR(weight / (design.part_of_ones * design.all_zeros), 1, 0.1);
  EXPECT_GT(sample->size(), sample->tested + 1000);
}

TEST_F(CalibratedRun, CalibrationImprovesScores) {
  Posterior raw(*dir_ / "run", 2, {.raw = true});
  const Evaluation now = posterior_.evaluate(), before = raw.evaluate();
  EXPECT_NEAR(now.calibration_slope, 1, 0.05);
  EXPECT_GT(std::abs(before.calibration_slope - 1), 0.1);
  EXPECT_LT(now.log_loss, before.log_loss);
  EXPECT_LT(now.misplaced, before.misplaced);
  EXPECT_GT(now.skill, now.popularity.skill);
  EXPECT_GT(now.auc_roc, now.popularity.auc_roc);
  EXPECT_TRUE(holds(posterior_.calibration_words(), "calibrated with 1600 held-out ones"));
  EXPECT_TRUE(holds(raw.calibration_words(), "as requested"));
}

// Of the first 1,000 unseen cells: the number found is compared with 1.3 times the one expected, which is more than six
// standard deviations of a Poisson number beyond.
TEST_F(CalibratedRun, TheHeadOfTheListHoldsWhatItPromises) {
  const std::vector<HeadOfList> heads = posterior_.head({10, 1000});
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[1].cells, 1000u);
  EXPECT_LT(heads[0].expected, heads[1].expected);
  EXPECT_LE(heads[0].found, heads[1].found);
  EXPECT_LT(static_cast<double>(heads[1].found), 1.3 * heads[1].expected);
  EXPECT_GT(static_cast<double>(heads[1].found), heads[1].expected / 1.3);
  EXPECT_EQ(error_of([&] { posterior_.head({0}); }, ErrorKind::usage),
            "the head of the list: ask for one cell or more");
}

// Scores made up: a model that orders cells worse than popularity, and one that is better.
TEST_F(CalibratedRun, TheVerdictTellsWhenPopularityIsBetter) {
  for (const bool better : {true, false}) {
    TestScores scores;
    for (int i = 0; i < 200; ++i) {
      const bool one = i % 4 == 0;
      (better ? scores.model : scores.popularity).add(one ? 0.6 : 0.1, one);
      (better ? scores.popularity : scores.model).add(i % 3 == 0 ? 0.6 : 0.1, one);
    }
    const Calibration found(posterior_, std::move(scores), false);
    EXPECT_EQ(found.verdict.against_popularity.empty(), better);
    if (!better) {
      EXPECT_TRUE(holds(found.verdict.against_popularity, "does not beat popularity: AUC-ROC 0."));
      EXPECT_TRUE(holds(found.verdict.against_popularity, "log-loss"));
    }
  }
}

// predict, recommend and evaluate say the same of a cell, to the last digit, with and without the map.
TEST_F(CalibratedRun, AllAnswersAgree) {
  for (const bool is_raw : {false, true}) {
    Posterior asked(*dir_ / "run", 1, {.raw = is_raw});
    std::vector<double> probabilities;
    TestCells cells;
    asked.recommend(Given{3u, {}, {}}, 50, [&](const Recommendation& item) {
      cells.coords.append(item.cell.data(), 3);
      cells.outcome.push_back(probabilities.size() % 3 == 0);
      probabilities.push_back(item.prediction.probability);
      return true;
    });
    ASSERT_EQ(probabilities.size(), 50u);
    const std::vector<Prediction> predictions = asked.predict(cells.coords.data(), 50);
    double brier = 0;
    for (std::size_t e = 0; e < 50; ++e) {
      EXPECT_EQ(predictions[e].probability, probabilities[e]);
      EXPECT_LE(predictions[e].q05, predictions[e].q95);
      EXPECT_LE(probabilities[e], probabilities[e == 0 ? 0 : e - 1]);
      brier += std::pow(probabilities[e] - cells.outcome[e], 2) / 50;
    }
    EXPECT_NEAR(asked.evaluate(cells).test_brier, brier, 1e-14);
  }
}

// Where an entity has one cell, its probability is that of the cell, calibrated or not. Where it has several, it is the
// posterior's own in any case.
TEST_F(CalibratedRun, EntitiesAreCalibratedIfTheyAreCells) {
  Posterior raw(*dir_ / "run", 1, {.raw = true}), listed(*dir_ / "run", 1, {.listed = 0.9});
  for (Posterior* asked : {&posterior_, &raw, &listed}) {
    const Given given{3u, 4u, {}};
    const std::vector<EntityRecommendation> entities = asked->recommend_entities(2, given, 20);
    std::size_t e = 0;
    asked->recommend(given, 20, [&](const Recommendation& item) {
      EXPECT_EQ(entities.at(e).entity, item.cell[2]);
      EXPECT_EQ(entities.at(e).cells, 1);
      EXPECT_EQ(entities.at(e++).prediction.probability, item.prediction.probability);
      return true;
    });
    EXPECT_EQ(e, entities.size());
  }
  const std::vector<EntityRecommendation> mine = posterior_.recommend_entities(1, Given{3u, {}, {}}, 20),
                                          own = raw.recommend_entities(1, Given{3u, {}, {}}, 20);
  ASSERT_EQ(mine.size(), own.size());
  for (std::size_t e = 0; e < mine.size(); ++e) {
    EXPECT_EQ(mine[e].entity, own[e].entity);
    EXPECT_EQ(mine[e].prediction.probability, own[e].prediction.probability);
  }
}

// p is the probability of being listed; if the data list nine of ten true ones, an unlisted cell is one with p / 9 of
// the odds.
TEST_F(CalibratedRun, ListedAsksForAnotherProbability) {
  Posterior listed(*dir_ / "run", 1, {.raw = false, .listed = 0.9});
  const std::uint32_t cells[] = {0, 0, 0, 5, 6, 7, 9, 9, 9};
  const std::vector<Prediction> of_list = posterior_.predict(cells, 3), of_rest = listed.predict(cells, 3);
  for (std::size_t e = 0; e < 3; ++e) {
    const double p = of_list[e].probability;
    EXPECT_NEAR(of_rest[e].probability, std::min(1.0, p * 0.1 / (0.9 * (1 - p))), 1e-12);
    EXPECT_LE(of_rest[e].q95, 1);
  }
  for (const double share : {0.0, 1.5, -1.0, std::nan("")})
    EXPECT_TRUE(holds(error_of([&] { Posterior(*dir_ / "run", 1, {.raw = false, .listed = share}); }, ErrorKind::usage),
                      "above 0 and at most 1"));
}

TEST_F(CalibratedRun, ADamagedFileIsRefusedAndRawDoesWithoutIt) {
  const TempDir dir;
  std::filesystem::copy(*dir_ / "run", dir / "run", std::filesystem::copy_options::recursive);
  std::string bytes = read_text(dir / "run/calibration.bin");
  bytes[bytes.size() / 2] ^= 1;
  write_text(dir / "run/calibration.bin", bytes);
  const std::string message = error_of([&] { Posterior(dir / "run", 1); }, ErrorKind::input);
  EXPECT_TRUE(holds(message, "calibration.bin")) << message;
  EXPECT_TRUE(holds(message, "use --raw, or remove the file")) << message;
  Posterior raw(dir / "run", 1, {.raw = true});
  EXPECT_GT(raw.evaluate().auc_roc, 0.7);
  write_text(dir / "run/calibration.bin", "");
  EXPECT_TRUE(holds(error_of([&] { Posterior(dir / "run", 1); }, ErrorKind::input), "calibration.bin"));
  std::filesystem::remove(dir / "run/calibration.bin");
  EXPECT_TRUE(holds(Posterior(dir / "run", 1).calibration_words(), "the run has no calibration map"));
  resume(dir / "run");  // makes it anew
  EXPECT_EQ(read_text(dir / "run/calibration.bin"), read_text(*dir_ / "run/calibration.bin"));
}

// Too few held-out ones, none at all, and a file of ones alone.
TEST_F(CalibratedRun, FewOnesFitNoMapAndSaySo) {
  const TempDir dir;
  SimulateOptions options;
  options.dims = {30, 20, 10};
  options.ones = 400;
  options.rank = 2;
  for (const auto& [holdout, words] :
       {std::pair{0.1, "that needs 50 held-out ones, and there are 40"}, {0.0, "no cells were held out"}}) {
    Simulated simulated = simulate(options);
    const std::string run = dir / ("run" + std::to_string(holdout));
    fit_to(test::as_dataset(simulated), run, holdout);
    EXPECT_TRUE(holds(Posterior(run, 1).calibration_words(), words)) << Posterior(run, 1).calibration_words();
  }
  TestCells ones;
  for (const std::uint32_t id : {1u, 2u, 3u}) ones.coords.push_back(id);
  ones.outcome.push_back(1);
  const Evaluation found = posterior_.evaluate(ones);  // a single one
  EXPECT_TRUE(std::isnan(found.auc_roc) && std::isnan(found.skill) && std::isnan(found.calibration_slope));
  EXPECT_GT(found.log_loss, 0);
}

// Counts have scores of their own, of which other counts have worse ones.
TEST_F(CalibratedRun, CountsHaveScoresOfTheirOwn) {
  const TempDir dir;
  Dataset data;
  for (const char* mode : {"row", "column"}) data.tensor.modes.push_back({mode, LabelTable::numbered(0, 24)});
  for (std::uint32_t i = 0; i < 24; ++i)
    for (std::uint32_t j = 0; j < 24; ++j) {
      if ((i + j) % 3 == 0) continue;
      data.tensor.coords.push_back(i);
      data.tensor.coords.push_back(j);
      data.tensor.counts.push_back(1 + (i % 3) * 5 + (j % 2) * 3 + (7 * i + 5 * j) % 3);
    }
  fit_to(std::move(data), dir / "run", 0.05, Likelihood::count);
  Posterior posterior(dir / "run", 1);
  const TestCells test = load_test_cells(dir / "run", posterior.info(), posterior.modes(), 1);
  ASSERT_EQ(test.counts.size(), test.size());
  EXPECT_GT(*std::max_element(test.counts.begin(), test.counts.end()), 5);
  const Evaluation found = posterior.evaluate(test);
  ASSERT_TRUE(found.counts);
  double deviance = 0, weights = 0;
  const std::vector<Prediction> predictions = posterior.predict(test.coords.data(), test.size());
  for (std::size_t e = 0; e < test.size(); ++e) {
    const double y = static_cast<double>(test.counts[e]), m = predictions[e].rate;
    const double weight = test.counts[e] > 0 ? 1 : found.zero_weight;
    deviance += weight * 2 * ((y > 0 ? y * std::log(y / m) : 0) - y + m);
    weights += weight;
  }
  EXPECT_NEAR(found.counts->deviance, deviance / weights, 1e-6 * deviance);
  TestCells shuffled;  // the same cells with other counts
  shuffled.coords.append(test.coords.data(), test.coords.size());
  shuffled.outcome.append(test.outcome.data(), test.outcome.size());
  for (std::size_t e = 0; e < test.size(); ++e) shuffled.counts.push_back(30 * test.counts[e]);
  const Evaluation worse = posterior.evaluate(shuffled);
  EXPECT_GT(worse.counts->deviance, found.counts->deviance);
  EXPECT_GT(worse.counts->log_score, found.counts->log_score);
}

// Five ones of three users, three items and two days, by hand.
TEST(Popularity, ByHand) {
  Dataset data;
  for (const auto& [mode, size] : {std::pair{"user", 3u}, {"item", 3u}, {"day", 2u}})
    data.tensor.modes.push_back({mode, LabelTable::numbered(0, size)});
  for (const auto& cell : {std::array{0u, 0u, 0u}, {0u, 1u, 0u}, {1u, 1u, 0u}, {1u, 1u, 1u}, {2u, 2u, 1u}})
    data.tensor.coords.append(cell.data(), 3);
  const Popularity popularity(data);
  const std::uint32_t cell[] = {0, 1, 0};  // degrees 2, 3 and 3 of 5
  EXPECT_NEAR(popularity.probability(cell), -std::expm1(-5 * (2 / 5.0) * (3 / 5.0) * (3 / 5.0)), 1e-15);
  Buffer<std::uint32_t> tests;
  for (const std::uint32_t id : {0u, 2u, 1u}) tests.push_back(id);
  Queries queries(tests, 3, 1);  // which item goes with user 0 on day 1?
  queries.finish_known();
  const PopularCandidates candidates(data, popularity, queries);
  std::vector<float> score(3);
  candidates.score(0, score);
  // Item 0: once with user 0. Item 1: once with user 0, once on day 1. Item 2: once on day 1. Then all ones, of 6.
  EXPECT_FLOAT_EQ(score[0], 1 + 1 / 6.0f);
  EXPECT_FLOAT_EQ(score[1], 2 + 3 / 6.0f);
  EXPECT_FLOAT_EQ(score[2], 1 + 1 / 6.0f);
}

}  // namespace
}  // namespace ztp
