// Planted tensors, with what was put in.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"
#include "ztp/simulate.hpp"
#include "ztp/split.hpp"

namespace ztp::test {

// The rate and P(one) of a cell under the truth of a simulation.
class Truth {
 public:
  Truth(const SimulateOptions& options, const Simulated& simulated) : lambda_(simulated.lambda) {
    for (std::size_t k = 0; k < options.dims.size(); ++k) {
      factors_.emplace_back(options.dims[k], std::vector<double>(options.rank, 0.0));
      for (std::size_t r = 0; r < options.rank; ++r) {
        const TrueFactorColumn column = true_factor_column(options, k, r);
        for (std::size_t i = 0; i < column.ids.size(); ++i) factors_[k][column.ids[i]][r] = column.u[i];
      }
    }
  }
  double probability(const std::uint32_t* cell) const { return -std::expm1(-rate(cell)); }
  double rate(const std::uint32_t* cell) const {
    double z = 0;
    for (std::size_t r = 0; r < lambda_.size(); ++r) {
      double product = lambda_[r];
      for (std::size_t k = 0; k < factors_.size(); ++k) product *= factors_[k][cell[k]][r];
      z += product;
    }
    return z;
  }

 private:
  std::vector<double> lambda_;
  std::vector<std::vector<std::vector<double>>> factors_;
};

inline Dataset as_dataset(Simulated& simulated) {
  Dataset data;
  data.tensor = std::move(simulated.tensor);
  data.networks = std::move(simulated.networks);
  return data;
}

// AUC-ROC of the cells of 20 entities of a planted tensor of rank 4, none of whose ones were seen.
inline double cold_start_auc(const std::string& run, bool with_network, bool as_missing,
                             const FitOptions& fit_options) {
  SimulateOptions options;
  options.dims = {100, 60, 40};
  options.ones = 9000;
  options.rank = 4;
  options.seed = 21;
  options.edges = {{"mode1", 900}};
  Simulated simulated = simulate(options);
  Dataset data = as_dataset(simulated);
  if (!with_network) data.networks.clear();
  SplitOptions how;
  how.protocol = Protocol::slices;
  how.mode = "mode1";
  how.after = 80;
  const Split parts = hold_out(data.tensor, how);
  data.missing.slices.resize(3);
  for (std::uint32_t j = 80; as_missing && j < 100; ++j) data.missing.slices[0].push_back(j);
  fit(std::move(data), fit_options, run);
  Posterior posterior(run);
  const std::vector<Prediction> predictions = posterior.predict(parts.test.coords.data(), parts.test.size());
  MetricsCollector collector;
  for (std::size_t e = 0; e < parts.test.size(); ++e)
    collector.add(predictions[e].probability, parts.test.outcome[e] != 0);
  return collector.finish().auc_roc;
}

}  // namespace ztp::test
