#include <algorithm>

#include "run/prepare.hpp"
#include "ztp/fit.hpp"

namespace ztp {

namespace {

constexpr double MiB = 1 << 20;
constexpr double sampling_code_bytes = 4 * MiB;  // code and small buffers that come into use, measured
constexpr double writing_bytes = 11 * MiB;  // netCDF, HDF5 and their buffers, measured

// The three stages of a fit do not overlap: reading, sampling, and writing draws.nc. Everything of size nnz, n_k R or test
// cells is counted; the rest is a few MiB.
double reading_bytes(const Dataset& data, double threads) {
  const double K = static_cast<double>(data.tensor.order());
  // Blocks of text and their cells in flight (io/table.cpp): about 13 MiB for each thread, unless the file is smaller.
  return std::min(13 * MiB * threads, static_cast<double>(data.lines) * K * 12);
}

double sampling_bytes(const Dataset& data, std::size_t R, std::size_t test_cells) {
  const double K = static_cast<double>(data.tensor.order()), stride = static_cast<double>(padded(R));
  double bytes = 0, largest_partials = 0;
  for (const Mode& mode : data.tensor.modes) {
    const double rows = mode.labels.size();
    bytes += rows * stride * (sizeof(float) + sizeof(std::int64_t));  // u and S
    largest_partials = std::max(largest_partials, rows / 256 * stride * (sizeof(float) + sizeof(double)));
  }
  // cells, outcome, running sum, current probability, and the sorted keys of the AUC
  return sampling_code_bytes + bytes + largest_partials + static_cast<double>(test_cells) * (4 * K + 1 + 8 + 8 + 8);
}

}  // namespace

FitCost estimate_cost(const Dataset& data, const FitOptions& given, std::size_t test_cells) {
  const FitOptions options = complete_options(given, data.tensor.modes);
  const DrawLayout layout = draw_layout(options, data.tensor.modes, data.networks.size());
  const Schedule plan = schedule(options, layout);
  const double K = static_cast<double>(data.tensor.order()), ones = static_cast<double>(data.tensor.nnz());
  FitCost cost;
  cost.draws = std::uint64_t{plan.chains} * plan.draws_per_chain();
  cost.draws_file = static_cast<double>(cost.draws) * static_cast<double>(layout.bytes());
  cost.memory = ones * (4 * K + (data.tensor.counts.empty() ? 0 : 8));
  for (const Network& network : data.networks) cost.memory += 8 * static_cast<double>(network.size());
  for (const Mode& mode : data.tensor.modes) cost.memory += static_cast<double>(mode.labels.bytes());
  cost.memory += std::max({reading_bytes(data, static_cast<double>(options.threads)),
                           sampling_bytes(data, layout.R, test_cells), writing_bytes});
  return cost;
}

}  // namespace ztp
