#include "run/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory.hpp"
#include "kernel/bounded_draw.hpp"
#include "options/amounts.hpp"
#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "run/rivals.hpp"
#include "ztp/error.hpp"

namespace ztp {

namespace {

constexpr double MiB = 1 << 20;
constexpr double sampling_code_bytes = 4 * MiB;  // measured: code and small buffers
constexpr double program_bytes = 12 * MiB;       // measured: the program itself
constexpr double writing_bytes = 11 * MiB;       // measured: netCDF, HDF5 and their buffers

// The stages of a fit do not overlap: reading, splitting, sampling, and writing draws.nc. Everything of size nnz, n_k R
// or test cells is counted; the rest is a few MiB.
double reading_bytes(const Dataset& data, double threads) {
  const double K = static_cast<double>(data.tensor.order());
  // Blocks of text and their cells in flight (io/table.cpp): about 13 MiB for each thread, unless the file is smaller.
  return std::min(13 * MiB * threads, static_cast<double>(data.lines) * K * 15);
}

// A copy of the training ones; then the numbers of the drawn zeros, and their cells.
double splitting_bytes(double ones, double K, double one_bytes, double test_cells) {
  return sampling_code_bytes + ones * one_bytes + test_cells * (8 + 2 * (4 * K + 1));
}

// The collapsed sampler stores the component of every unit of the latent counts, and lists of units by component.
double regrouping_bytes(const Dataset& data) {
  double units = 1.5 * static_cast<double>(data.tensor.nnz());  // a one's latent count is rarely more than one or two
  for (const std::int64_t count : data.tensor.counts) units += static_cast<double>(count);
  double bytes = units * 48;
  for (const Mode& mode : data.tensor.modes) bytes += 24.0 * mode.labels.size();
  return bytes;
}

// u and S, norms of the factors, and partial sums.
double parameter_bytes(const std::vector<Mode>& modes, const FitOptions& options) {
  const std::size_t R = static_cast<std::size_t>(options.rank);
  const double count_bytes = is_online(options) ? sizeof(std::int64_t) : sizeof(std::int32_t);  // if they stay narrow
  const double stride = static_cast<double>(padded(R));
  double bytes = sampling_code_bytes, largest_partials = 0;
  for (const Mode& mode : modes) {
    const double rows = mode.labels.size();
    bytes += rows * stride * (sizeof(float) + count_bytes);
    if (R >= least_rank_bounded)  // norms
      bytes += rows * static_cast<double>(padded(padded(R) / components_per_block)) * sizeof(float);
    largest_partials = std::max(largest_partials, rows / 256 * stride * sizeof(double));
  }
  return bytes + largest_partials;
}

// The index of the entries of each row: 4 bytes per entry and mode but the first (or per end of an edge), 8 per row.
double index_bytes(const Dataset& data) {
  double bytes = 4 * static_cast<double>(data.tensor.nnz()) * static_cast<double>(data.tensor.order() - 1);
  for (const Mode& mode : data.tensor.modes) bytes += 8.0 * mode.labels.size();
  for (const Network& network : data.networks)
    bytes += 4 * static_cast<double>(network.edges.size()) + 8.0 * data.tensor.modes[network.mode].labels.size();
  return bytes;
}

// Minibatches: a shuffled copy of the ones in memory, which takes 16 more bytes per one to make; or two chunks of a
// file.
double minibatch_bytes(const Dataset& data, const FitOptions& options) {
  const double K = static_cast<double>(data.tensor.order()), in_memory = static_cast<double>(data.tensor.nnz());
  const double counts = has_counts(options) ? 8 : 0;
  const double minibatch = static_cast<double>(options.minibatch);
  const double chunk = std::min(minibatch, static_cast<double>(FileMinibatches::usual_chunk));
  double bytes = data.file != nullptr ? 2 * chunk * (4 * K + counts) + 4 * chunk
                                      : in_memory * (4 * K + counts + 16) + 4 * in_memory * (K - 1) + 4 * minibatch;
  for (const Network& network : data.networks) bytes += 12 * static_cast<double>(network.edges.size());
  double rows = 0;
  for (const Mode& mode : data.tensor.modes) rows += mode.labels.size();
  if (options.inner_draws > 1) bytes += rows * static_cast<double>(padded(static_cast<std::size_t>(options.rank))) * 4;
  return bytes + (minibatch * K < rows / 2 ? 4 * rows : 0);
}

double sampling_bytes(const Dataset& data, const FitOptions& options, double test_cells) {
  const double K = static_cast<double>(data.tensor.order()), ones = static_cast<double>(data.tensor.nnz());
  const double followed = test_cells * (4 * K + 1 + 8 + 8 + 8);  // cells, outcome, sum, probability, sorted keys
  if (is_rival(options)) return sampling_code_bytes + rival_models(options).chain_bytes(options, data) + followed;
  double bytes = parameter_bytes(data.tensor.modes, options);
  if (is_online(options))
    bytes += minibatch_bytes(data, options);
  else
    bytes += index_bytes(data) + 4 * ones;  // and each one's component
  if (options.sampler == Sampler::collapsed) bytes += regrouping_bytes(data);
  return bytes + followed;
}

FitCost cost_of(const Dataset& data, const FitOptions& options, std::uint64_t cells_of_file = 0) {
  const double held_out = options.holdout * static_cast<double>(data.ones());
  const double test_cells =
      held_out * (1 + static_cast<double>(options.zeros_per_one)) + static_cast<double>(cells_of_file);
  const double missing_tests = options.holdout_as == HoldoutAs::missing ? test_cells : 0;
  const DrawLayout layout = draw_layout(options, data.tensor.modes, data.networks);
  const Schedule plan = make_schedule(options, layout);
  const double K = static_cast<double>(data.tensor.order()), ones = static_cast<double>(data.tensor.nnz());
  FitCost cost;
  cost.draws = std::uint64_t{plan.chains} * plan.draws_per_chain();
  cost.draws_file = static_cast<double>(cost.draws) * static_cast<double>(layout.bytes());
  const double one_bytes = 4 * K + (data.tensor.counts.empty() ? 0 : 8);
  cost.memory = ones * one_bytes;
  for (const Network& network : data.networks)
    cost.memory += 4 * static_cast<double>(network.edges.size() + network.missing.size());
  cost.memory += 4 * (static_cast<double>(data.missing.cells.size()) + missing_tests * K);
  for (const auto& slices : data.missing.slices) cost.memory += 4 * static_cast<double>(slices.size());
  for (const Mode& mode : data.tensor.modes) cost.memory += static_cast<double>(mode.labels.bytes());
  cost.memory +=
      std::max({reading_bytes(data, static_cast<double>(options.threads)),
                sampling_bytes(data, options, test_cells) - (data.file == nullptr ? held_out * one_bytes : 0.0),
                writing_bytes, held_out > 0 ? splitting_bytes(ones, K, one_bytes, test_cells) : 0.0});
  return cost;
}

}  // namespace

FitCost estimate_cost(const Dataset& data, const FitOptions& options) {
  return cost_of(data, complete_options(options, data));
}

void require_memory(const Dataset& data, const FitOptions& options, std::uint64_t test_cells) {
  const double limit = options.memory.empty() ? memory_of_machine() : memory_limit(options.memory);
  const auto needed = [&](const FitOptions& tried) { return program_bytes + cost_of(data, tried, test_cells).memory; };
  const double need = needed(options);
  if (need <= limit) return;
  std::string remedy;
  FitOptions tried = options;
  while (tried.rank > 1 && needed(tried) > limit) tried.rank = tried.rank * 4 / 5;
  if (needed(tried) <= limit) remedy += fmt::format("; --rank {} needs {}", tried.rank, human_bytes(needed(tried)));
  if (!is_rival(options) && !is_online(options) && options.learn.empty()) {
    tried = options;
    tried.method = Method::online;
    tried.sampler = Sampler::automatic;
    tried.start = Start::allocation;
    tried.minibatch = -1;
    tried.latent = tried.parameters = SampleOrMean::automatic;
    tried = fill_in_defaults(tried, data);
    if (needed(tried) <= limit) remedy += fmt::format("; --method online needs {}", human_bytes(needed(tried)));
    remedy += "; online from a file of 'ztp convert' the ones need not be in memory at all";
  }
  throw Error(ErrorKind::config,
              fmt::format("the fit needs about {} of memory, and {} {}{}", human_bytes(need),
                          options.memory.empty() ? "the machine has" : "--memory allows", human_bytes(limit), remedy));
}

}  // namespace ztp
