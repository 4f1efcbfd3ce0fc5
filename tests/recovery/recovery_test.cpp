// Planted tensors: does the fit find what was put in? Everything is compared through probabilities, never factor by
// factor. Each test is a function of its seeds; what it found with others says how far its margin is from chance.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "planted.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"
#include "ztp/simulate.hpp"
#include "ztp/split.hpp"

namespace ztp {
namespace {

using test::as_dataset, test::TempDir, test::Truth;

// With 300 sweeps of a batch fit.
double cold_start_auc(const std::string& run, bool with_network, bool as_missing, std::int64_t bound) {
  FitOptions options;
  options.chains = 1;
  options.threads = 1;
  options.rank = bound;
  options.sweeps = 300;
  return test::cold_start_auc(run, with_network, as_missing, options);
}

// Seed 11. The truth ranks held-out cells as well as anything can; the fit must come within 0.01 of its AUC-ROC. With
// the seeds 11 to 14 it comes within 0.0006.
TEST(Recovery, RanksHeldOutCellsAsWellAsTheTruth) {
  const TempDir dir;
  SimulateOptions options;
  options.dims = {120, 100, 80};
  options.ones = 12000;
  options.rank = 6;
  options.seed = 11;
  Simulated simulated = simulate(options);
  const Truth truth(options, simulated);
  FitOptions fit_options;
  fit_options.chains = 1;
  fit_options.threads = 1;
  fit_options.rank = 12;
  fit_options.sweeps = 300;
  fit_options.holdout = 0.1;
  fit(as_dataset(simulated), fit_options, dir / "run");
  Posterior posterior(dir / "run");
  const TestCells test = read_test_cells(dir / "run/test.tsv", posterior.modes());
  MetricsCollector best;
  for (std::size_t e = 0; e < test.size(); ++e)
    best.add(truth.probability(test.coords.data() + 3 * e), test.outcome[e] != 0);
  const double best_auc = best.finish().auc_roc;
  EXPECT_GT(best_auc, 0.9);
  EXPECT_GT(posterior.evaluate().auc_roc, best_auc - 0.01);
}

// Seeds 1 to 12. Data from the model itself, fitted with the prior they came from: the 90 % intervals of P(one) must
// hold the truth in about 90 % of random cells. Cells of one tensor share factors, so the unit is the tensor: the mean
// coverage of 12 must lie within 4 standard errors (of their spread) of 0.9; false alarm below 0.003 (t with 11 degrees
// of freedom).
TEST(Recovery, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const TempDir dir;
  std::vector<double> coverage;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SimulateOptions options;
    options.dims = {30, 25, 20};
    options.ones = 1500;
    options.rank = 3;
    options.seed = seed;
    options.kind = SimulateKind::model;
    options.dirichlet = 0.5;
    Simulated simulated = simulate(options);
    const Truth truth(options, simulated);
    FitOptions fit_options;
    fit_options.chains = 1;
    fit_options.threads = 1;
    fit_options.rank = 3;
    fit_options.dirichlet = {"0.5"};
    fit_options.gamma_shape = 1;
    fit_options.sweeps = 2000;
    fit_options.draws = 200;
    fit_options.seed = seed;
    const std::string run = dir / std::to_string(seed);
    fit(as_dataset(simulated), fit_options, run);
    Posterior posterior(run);
    std::vector<std::uint32_t> cells;
    Stream stream(stream_key(seed, 0, Purpose::simulate, 77), 0, 0);
    for (int i = 0; i < 400; ++i)
      for (const std::uint64_t n : options.dims) cells.push_back(static_cast<std::uint32_t>(stream.below(n)));
    const std::vector<Prediction> predictions = posterior.predict(cells.data(), 400);
    double inside = 0;
    for (std::size_t e = 0; e < 400; ++e) {
      const double p = truth.probability(cells.data() + 3 * e);
      inside += p >= predictions[e].q05 && p <= predictions[e].q95 ? 1 : 0;
    }
    coverage.push_back(inside / 400);
  }
  double mean = 0, squares = 0;
  for (const double value : coverage) mean += value / 12;
  for (const double value : coverage) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / 11 / 12);
  EXPECT_NEAR(mean, 0.9, 4 * error) << "standard error " << error;
  EXPECT_LT(error, 0.02) << "the test would see nothing";
}

// Seed 21. Entities without a single one: their network must place them, and nothing else can. Taken for zeros, it can
// do so at the true rank only: with components to spare, the zeros pull tensor and network apart. Missing, it always
// can. Fits have the seed 1; with the seeds 1 to 4 the AUC-ROC is 0.85 to 0.87 without the network and 0.96 with it,
// but once, as zeros with the seed 4, a chain that stays in another mode has 0.84: as zeros a false alarm is not rare
// where draws change.
TEST(Recovery, NetworkPlacesEntitiesWithoutData) {
  const TempDir dir;
  const double without = cold_start_auc(dir / "without", false, false, 4);
  EXPECT_GT(cold_start_auc(dir / "zeros", true, false, 4), without + 0.05);
  EXPECT_GT(cold_start_auc(dir / "missing", true, true, 12), without + 0.05);
}

// Seed 41. The posterior of the rank is at the truth, whatever the bound and the start; its mean was 8.00 to 8.03 with
// the seeds 41 to 44.
TEST(Recovery, RankIsFoundFromAnyStart) {
  const TempDir dir;
  for (const std::int64_t bound : {15, 40})
    for (const Start start : {Start::allocation, Start::prior}) {
      SimulateOptions options;
      options.dims = {80, 80, 80};
      options.ones = 3000;
      options.rank = 8;
      options.seed = 41;
      Simulated simulated = simulate(options);
      FitOptions fit_options;
      fit_options.chains = 1;
      fit_options.threads = 1;
      fit_options.rank = bound;
      fit_options.sweeps = 500;
      fit_options.start = start;
      const std::string run = dir / (name_of(start) + std::to_string(bound));
      fit(as_dataset(simulated), fit_options, run);
      double mean = 0;
      for (const auto& [number, probability] : run_info(run).rank) mean += static_cast<double>(number) * probability;
      EXPECT_NEAR(mean, 8, 0.3) << "bound " << bound << ", start " << name_of(start);
    }
}

// Seed 31. Upper bounds of 10 and 30 on a tensor of true rank 5: the weight beyond the five largest components is
// small.
TEST(Recovery, SuperfluousComponentsStaySmall) {
  const TempDir dir;
  for (const std::int64_t bound : {10, 30}) {
    SimulateOptions options;
    options.dims = {80, 80, 80};
    options.ones = 8000;
    options.rank = 5;
    options.seed = 31;
    Simulated simulated = simulate(options);
    FitOptions fit_options;
    fit_options.chains = 1;
    fit_options.threads = 1;
    fit_options.rank = bound;
    fit_options.sweeps = 1000;
    const std::string run = dir / std::to_string(bound);
    fit(as_dataset(simulated), fit_options, run);
    Posterior posterior(run);
    double large = 0;
    for (const Component& component : posterior.components(1)) large += component.share > 0.02 ? component.share : 0;
    EXPECT_GT(large, 0.9) << bound;
    std::size_t count = 0;
    for (const Component& component : posterior.components(1)) count += component.share > 0.02;
    EXPECT_GE(count, 4u) << bound;
    EXPECT_LE(count, 8u) << bound;
  }
}

}  // namespace
}  // namespace ztp
