// Planted tensors: does an online fit, which is an approximation, find what a batch fit finds? Compared through
// held-out probabilities. Seeds are fixed; nothing is retried. With the seeds 11 to 14 of recovery_test.cpp online fits
// come within 0.0003 of the AUC-ROC of batch.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "model/distributions.hpp"
#include "planted.hpp"
#include "temp_dir.hpp"

namespace ztp::test {
namespace {

// A tensor of rank 6 with 12000 ones. Where it is counted, ones have the counts that the truth gives to cells that are
// not zero.
Dataset planted(bool counted) {
  SimulateOptions options;
  options.dims = {120, 100, 80};
  options.ones = 12000;
  options.rank = 6;
  options.seed = 51;
  Simulated simulated = simulate(options);
  const Truth truth(options, simulated);
  Dataset data = as_dataset(simulated);
  for (std::size_t e = 0; counted && e < data.tensor.nnz(); ++e) {
    Stream stream(stream_key(51, 0, Purpose::simulate, 78), 0, e);
    data.tensor.counts.push_back(draw_zero_truncated_poisson(stream, truth.rate(data.tensor.cell(e))));
  }
  return data;
}

double held_out_auc(const std::string& run, bool counted, FitOptions options) {
  options.rank = 12;
  options.holdout = 0.1;
  options.likelihood = counted ? Likelihood::count : Likelihood::binary;
  fit(planted(counted), options, run);
  return Posterior(run).evaluate().auc_roc;
}

FitOptions online(std::int64_t steps, SampleOrMean latent = SampleOrMean::automatic,
                  SampleOrMean parameters = SampleOrMean::automatic) {
  FitOptions options;
  options.chains = 1;
  options.threads = 1;
  options.method = Method::online;
  options.sweeps = steps;
  options.latent = latent;
  options.parameters = parameters;
  return options;
}

FitOptions batch(std::int64_t sweeps) {
  FitOptions options;
  options.chains = 1;
  options.threads = 1;
  options.sweeps = sweeps;
  return options;
}

// Seed 51. 300 sweeps look at each one as often as 3000 minibatches of a tenth of them do. Within 0.01 of the AUC-ROC
// of the batch fit, in each way of drawing or averaging; with counts, which differ from ones in the kernel alone, in
// the way that is chosen for so few ones.
TEST(OnlineRecovery, RanksHeldOutCellsAsWellAsBatch) {
  const TempDir dir;
  const double wanted = held_out_auc(dir / "binary", false, batch(300));
  EXPECT_GT(wanted, 0.9);
  for (const SampleOrMean latent : {SampleOrMean::sample, SampleOrMean::mean})
    for (const SampleOrMean parameters : {SampleOrMean::sample, SampleOrMean::mean})
      EXPECT_GT(held_out_auc(dir / (name_of(latent) + name_of(parameters)), false, online(3000, latent, parameters)),
                wanted - 0.01)
          << "latent " << name_of(latent) << ", parameters " << name_of(parameters);
  const double of_counts = held_out_auc(dir / "counts", true, batch(300));
  EXPECT_GT(of_counts, 0.9);
  EXPECT_GT(held_out_auc(dir / "online-counts", true, online(3000)), of_counts - 0.01);
}

// The same with the paper's schedule, which never forgets its start, falls behind: kappa is used.
TEST(OnlineRecovery, EarlyStepsAreForgotten) {
  const TempDir dir;
  FitOptions literal = online(1000);
  literal.kappa = 1;
  EXPECT_GT(held_out_auc(dir / "half", false, online(1000)), held_out_auc(dir / "one", false, literal));
}

// Seed 21, as in recovery_test.cpp. Entities without a single one, all of whose cells are missing: their network places
// them. With the seeds 1 to 4 of the fit the AUC-ROC is 0.95 to 0.96 with the network and 0.85 to 0.89 without.
TEST(OnlineRecovery, NetworkPlacesEntitiesWithoutData) {
  const TempDir dir;
  FitOptions options = online(2000);
  options.rank = 12;
  const double with = cold_start_auc(dir / "with", true, true, options);
  const double without = cold_start_auc(dir / "without", false, true, options);
  EXPECT_GT(with, 0.7);
  EXPECT_GT(with, without + 0.05);
}

}  // namespace
}  // namespace ztp::test
