#include "sampler/latent_counts.hpp"

#include <cmath>

#include "model/distributions.hpp"

namespace ztp {
namespace {

Sums sums_of_tensor(Statistics& statistics) {
  Sums sums{{}, statistics.tensor.data()};
  for (auto& of_mode : statistics.rows) sums.rows.push_back(&of_mode);
  return sums;
}

}  // namespace

Sums weighted(Sums sums, const LatentCounts::How& how) {
  sums.unit = how.unit;
  sums.expected = how.expected;
  return sums;
}

LatentCounts::LatentCounts(const Problem& problem, Kernel& kernel, std::uint32_t chain)
    : problem_(problem), kernel_(kernel), chain_(chain) {
  const std::vector<std::uint32_t> sizes = problem.tensor->sizes();
  in_slice_.resize(sizes.size());
  for (std::size_t k = 0; problem.missing != nullptr && k < problem.missing->slices.size(); ++k) {
    if (problem.missing->slices[k].empty()) continue;
    in_slice_[k].assign(sizes[k], 0);
    for (const std::uint32_t j : problem.missing->slices[k]) in_slice_[k][j] = 1;
  }
}

void LatentCounts::reserve(std::size_t ones) {
  kernel_.reserve(ones);
  if (problem_.missing != nullptr) kernel_.reserve(problem_.missing->cells.size() / in_slice_.size());
  for (const Network& network : problem_.networks) {
    kernel_.reserve(network.size());
    kernel_.reserve(network.missing.size() / 2);
  }
}

StreamKey LatentCounts::key(Purpose purpose, std::size_t mode) const {
  return stream_key(problem_.seed, chain_, purpose, static_cast<std::uint32_t>(mode));
}

double LatentCounts::draw(Entries entries, const Rates& rates, StreamKey key, const How& how, const Sums& sums) const {
  entries.anywhere = how.anywhere && !entries.missing;
  entries.bounded = how.bounded;
  entries.likelihood = how.likelihood;
  return kernel_.allocate(entries, rates, key, how.t, weighted(sums, how));
}

double LatentCounts::draw_counts_of_ones(const Entries& ones, const State& state, const How& how,
                                         Statistics& statistics) const {
  Sums sums = sums_of_tensor(statistics);
  sums.fresh = how.fresh;
  sums.parts = how.parts;
  const std::vector<std::int64_t> before = statistics.tensor;
  const double log_likelihood = draw(ones, tensor_rates(state), key(Purpose::counts, how.chunk), how, sums);
  for (std::size_t r = 0; r < problem_.R; ++r) statistics.from_ones[r] += statistics.tensor[r] - before[r];
  return log_likelihood;
}

double LatentCounts::impute_missing(const State& state, const How& how, Statistics& statistics) const {
  if (problem_.missing == nullptr) return 0;
  double rate = 0;
  for (std::size_t k = 0; k < in_slice_.size(); ++k)
    if (!in_slice_[k].empty()) rate += impute_slices(k, state, how, statistics);
  const Buffer<std::uint32_t>& cells = problem_.missing->cells;
  const Entries listed{.coords = cells.data(), .count = cells.size() / in_slice_.size(), .missing = true};
  return rate + draw(listed, tensor_rates(state), key(Purpose::missing_cells), how, sums_of_tensor(statistics));
}

// The missing slices of mode k, outside those of the modes before it. For each component the counts of that block of cells are
// one Poisson total, and its coordinates are independent: missing rows in mode k, observed rows before it, all rows after it.  (M18)
// Reads the state, adds into the statistics, O(R sum_k n_k). Returns the rate of these cells.
double LatentCounts::impute_slices(std::size_t k, const State& state, const How& how, Statistics& statistics) const {
  const std::size_t K = in_slice_.size();
  std::vector<Rows> rows(K);
  std::vector<std::vector<double>> mass(K, std::vector<double>(problem_.R, 1.0));
  std::vector<double> mean(problem_.R);
  for (std::size_t r = 0; r < problem_.R; ++r) mean[r] = std::exp(state.tensor.log_weight[r]);
  for (std::size_t other = 0; other <= k; ++other) {
    if (in_slice_[other].empty()) continue;
    rows[other] = {in_slice_[other].data(), static_cast<std::uint8_t>(other == k ? 1 : 0)};
    mass[other] = kernel_.column_mass(state.u[other], rows[other]);
    for (std::size_t r = 0; r < problem_.R; ++r) mean[r] *= mass[other][r];
  }
  std::vector<std::int64_t> totals(problem_.R);
  double rate = 0;
  for (std::size_t r = 0; r < problem_.R; ++r) {
    Stream stream(key(Purpose::slice_totals, k), how.t, r);
    if (!how.expected) totals[r] = draw_poisson(stream, mean[r]);
    statistics.tensor[r] += how.expected ? std::llround(mean[r] * static_cast<double>(how.unit)) : totals[r] * how.unit;
    rate += mean[r];
  }
  for (std::size_t other = 0; other < K; ++other) {
    const Matrix<float>& u = state.u[other];
    if (!how.expected) {
      kernel_.place(u, rows[other], totals, {key(Purpose::slice_places, k * K + other), how.t},
                    {.rows = {&statistics.rows[other]}, .unit = how.unit});
      continue;
    }
    std::vector<double> factor(problem_.R, 0.0);
    for (std::size_t r = 0; r < problem_.R; ++r)
      if (mass[other][r] > 0)
        factor[r] = mean[r] * static_cast<double>(how.unit) / (mass[other][r] * static_cast<double>(u.rows()));
    kernel_.spread(u, rows[other], 1, factor, statistics.rows[other]);
  }
  return rate;
}

}  // namespace ztp
