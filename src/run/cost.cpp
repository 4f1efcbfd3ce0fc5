#include "run/prepare.hpp"
#include "ztp/fit.hpp"

namespace ztp {

// What is alive at the peak of a sweep. Everything of size nnz, n_k R or test cells is here; the rest is small.
FitCost estimate_cost(const Dataset& data, const FitOptions& given, std::size_t test_cells) {
  const FitOptions options = complete_options(given, data.tensor.modes);
  const DrawLayout layout = draw_layout(options, data.tensor.modes, data.networks.size());
  const Schedule plan = schedule(options, layout);
  const double K = static_cast<double>(data.tensor.order());
  FitCost cost;
  cost.draws = std::uint64_t{plan.chains} * plan.draws_per_chain();
  cost.draws_file = static_cast<double>(cost.draws) * static_cast<double>(layout.bytes());
  cost.memory += static_cast<double>(data.tensor.nnz()) * (4 * K + (data.tensor.counts.empty() ? 0 : 8));
  for (const Network& network : data.networks) cost.memory += 8 * static_cast<double>(network.size());
  double largest_partials = 0;
  for (const Mode& mode : data.tensor.modes) {
    const double rows = mode.labels.size(), stride = static_cast<double>(padded(layout.R));
    cost.memory += static_cast<double>(mode.labels.bytes());
    cost.memory += rows * stride * (sizeof(float) + sizeof(std::int64_t));  // u and S
    largest_partials = std::max(largest_partials, rows / 256 * stride * 12);
  }
  cost.memory += largest_partials;
  // cells, outcome, running sum, current probability, and the sorted keys of the AUC
  cost.memory += static_cast<double>(test_cells) * (4 * K + 1 + 8 + 8 + 8);
  return cost;
}

}  // namespace ztp
