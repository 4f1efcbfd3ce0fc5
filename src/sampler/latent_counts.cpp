#include "sampler/latent_counts.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"

namespace ztp {

CountSums sums_of_tensor(const FactorLayout& layout, Statistics& statistics) {
  CountSums sums{&layout, {}, statistics.tensor.data()};
  for (const auto& of_matrix : statistics.rows) sums.rows.push_back(of_matrix.get());
  return sums;
}

bool has_slices(const Problem& problem) {
  if (problem.missing == nullptr) return false;
  const auto& slices = problem.missing->slices;
  return std::any_of(slices.begin(), slices.end(), [](const auto& of_mode) { return !of_mode.empty(); });
}

std::vector<std::vector<std::uint8_t>> slice_masks(const Problem& problem) {
  std::vector<std::vector<std::uint8_t>> masks(problem.layout.modes());
  for (std::size_t k = 0; problem.missing != nullptr && k < problem.missing->slices.size(); ++k) {
    if (problem.missing->slices[k].empty()) continue;
    masks[k].assign(problem.layout.size_of_mode(k).rows, 0);
    for (const std::uint32_t j : problem.missing->slices[k]) masks[k][j] = 1;
  }
  return masks;
}

LatentCounts::LatentCounts(const Problem& problem, Kernel& kernel, std::uint32_t chain)
    : problem_(problem), kernel_(kernel), chain_(chain), in_slice_(slice_masks(problem)) {}

void LatentCounts::upload_missing_cells() {
  if (problem_.missing == nullptr) return;
  const Buffer<std::uint32_t>& cells = problem_.missing->cells;
  missing_ = kernel_.upload({.coords = cells.data(), .count = cells.size() / problem_.layout.modes(), .missing = true},
                            problem_.layout);
}

void LatentCounts::reserve(std::size_t ones) {
  kernel_.reserve(ones);
  if (missing_) kernel_.reserve(missing_->count());
  for (const Network& network : problem_.networks) {
    kernel_.reserve(network.size());
    kernel_.reserve(network.missing.size() / 2);
  }
}

StreamKey LatentCounts::key(Purpose purpose, std::size_t mode) const {
  return stream_key(problem_.seed, chain_, purpose, static_cast<std::uint32_t>(mode), {.update = problem_.update});
}

double LatentCounts::draw_counts_of_ones(const Ones& ones, const State& state, const DrawSettings& settings,
                                         Statistics& statistics) const {
  const std::vector<std::int64_t> before = statistics.tensor;
  const double log_likelihood = kernel_.allocate(ones, tensor_rates(state), key(Purpose::counts), settings,
                                                 sums_of_tensor(state.layout, statistics));
  for (std::size_t r = 0; r < before.size(); ++r) statistics.from_ones[r] += statistics.tensor[r] - before[r];
  return log_likelihood;
}

void LatentCounts::start(const Ones& ones, Statistics& statistics) const {
  kernel_.allocate_at_random(ones, key(Purpose::start), sums_of_tensor(problem_.layout, statistics));
  statistics.from_ones = statistics.tensor;
}

double LatentCounts::impute_missing(const State& state, const DrawSettings& settings, Statistics& statistics) const {
  double rate = 0;
  for (std::size_t k = 0; k < in_slice_.size(); ++k)
    if (!in_slice_[k].empty()) rate += impute_slices(k, state, settings, statistics);
  return missing_ ? rate + impute_cells(*missing_, state, settings, statistics) : rate;
}

double LatentCounts::impute_cells(const Ones& cells, const State& state, const DrawSettings& settings,
                                  Statistics& statistics) const {
  return kernel_.allocate(cells, tensor_rates(state), key(Purpose::missing_cells), settings,
                          sums_of_tensor(state.layout, statistics));
}

// The missing slices of mode k, outside those of the modes before it. For each component the counts of that block of
// cells are one Poisson total, and its coordinates are independent: missing rows in mode k, observed rows before it,
// all rows after it.    (M18)
// Reads the state, adds into the statistics, O(R sum_k n_k). Returns the rate of these cells.
double LatentCounts::impute_slices(std::size_t k, const State& state, const DrawSettings& settings,
                                   Statistics& statistics) const {
  const FactorLayout& layout = state.layout;
  const std::size_t K = layout.modes(), R = layout.components();
  const double unit = static_cast<double>(settings.unit);
  std::vector<RowMask> rows(K);
  std::vector<std::vector<double>> mass(K);  // of each column, in these rows; empty: one
  std::vector<double> mean(R);
  for (std::size_t r = 0; r < R; ++r) mean[r] = std::exp(state.tensor.log_weight[r]);
  for (std::size_t other = 0; other <= k; ++other) {
    if (in_slice_[other].empty()) continue;
    rows[other] = {in_slice_[other].data(), static_cast<std::uint8_t>(other == k ? 1 : 0)};
    mass[other] = kernel_.column_mass(state.of_mode(other), rows[other]);
    for (std::size_t r = 0; r < R; ++r) mean[r] *= mass[other][layout.column(other, r)];
  }
  std::vector<std::int64_t> totals(R);
  double rate = 0;
  for (std::size_t r = 0; r < R; ++r) {
    Stream stream(key(Purpose::slice_totals, k), settings.t, r);
    if (!settings.expected) totals[r] = draw_poisson(stream, mean[r]);
    statistics.tensor[r] += settings.expected ? std::llround(mean[r] * unit) : totals[r] * settings.unit;
    rate += mean[r];
  }
  for (std::size_t other = 0; other < K; ++other) {
    const Factors& u = state.of_mode(other);
    Counts& S = *statistics.rows[layout.matrix(other)];
    if (!settings.expected) {
      std::vector<std::int64_t> of_column(u.columns(), 0);
      for (std::size_t r = 0; r < R; ++r) of_column[layout.column(other, r)] += totals[r];
      kernel_.place(u, rows[other], of_column, {key(Purpose::slice_places, k * K + other), settings.t}, settings.unit,
                    S);
      continue;
    }
    std::vector<double> factor(u.columns(), 0.0);
    for (std::size_t r = 0; r < R; ++r) {
      const std::size_t q = layout.column(other, r);
      const double of_column = mass[other].empty() ? 1 : mass[other][q];
      if (of_column > 0) factor[q] += mean[r] * unit / (of_column * static_cast<double>(u.rows()));
    }
    kernel_.spread(u, rows[other], 1, factor, S);
  }
  return rate;
}

}  // namespace ztp
