#include "sampler/latent_counts.hpp"

#include <cmath>

#include "model/draws.hpp"

namespace ztp {
namespace {

Sums sums_of(std::vector<Matrix<std::int64_t>*> rows, std::vector<std::int64_t>& totals, const LatentCounts::How& how) {
  Sums sums{std::move(rows), totals.data()};
  sums.unit = how.unit;
  sums.expected = how.expected;
  return sums;
}

std::vector<Matrix<std::int64_t>*> all_rows(Statistics& statistics) {
  std::vector<Matrix<std::int64_t>*> rows;
  for (auto& of_mode : statistics.rows) rows.push_back(&of_mode);
  return rows;
}

Entries prepared(Entries entries, const LatentCounts::How& how) {
  entries.anywhere = how.anywhere && !entries.missing;
  entries.bounded = how.bounded;
  entries.likelihood = how.likelihood;
  return entries;
}

}  // namespace

Rates tensor_rates(const State& state) {
  std::vector<const Matrix<float>*> u;
  for (const auto& matrix : state.u) u.push_back(&matrix);
  return make_rates(std::move(u), state.tensor.log_weight);
}

Rates network_rates(const State& state, const Network& network, std::size_t m) {
  const Matrix<float>& u = state.u[network.mode];
  return make_rates({&u, &u}, state.networks[m].log_weight, 2);
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

double LatentCounts::draw_ones(Entries ones, const State& state, const How& how, Statistics& statistics) const {
  Sums sums = sums_of(all_rows(statistics), statistics.tensor, how);
  sums.fresh = how.fresh;
  sums.parts = how.parts;
  const std::vector<std::int64_t> before = statistics.tensor;
  const double log_likelihood =
      kernel_.allocate(prepared(ones, how), tensor_rates(state), key(Purpose::counts, how.chunk), how.t, sums);
  for (std::size_t r = 0; r < problem_.R; ++r) statistics.from_ones[r] += statistics.tensor[r] - before[r];
  return log_likelihood;
}

double LatentCounts::impute_missing(const State& state, const How& how, Statistics& statistics) const {
  if (problem_.missing == nullptr) return 0;
  double rate = 0;
  for (std::size_t k = 0; k < in_slice_.size(); ++k)
    if (!in_slice_[k].empty()) rate += impute_slices(k, state, how, statistics);
  const Buffer<std::uint32_t>& cells = problem_.missing->cells;
  const Entries entries{.coords = cells.data(), .count = cells.size() / in_slice_.size(), .missing = true};
  return rate + kernel_.allocate(prepared(entries, how), tensor_rates(state), key(Purpose::missing_cells), how.t,
                                 sums_of(all_rows(statistics), statistics.tensor, how));
}

// The missing slices of mode k, outside those of the modes before it. For each component the counts of that block of cells are
// one Poisson total, and its coordinates are independent: missing rows in mode k, observed rows before it, all rows after it.
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
      kernel_.place(u, rows[other], totals, key(Purpose::slice_places, k * K + other), how.t, statistics.rows[other],
                    how.unit);
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

double LatentCounts::draw_edges(std::size_t m, Entries edges, const State& state, const How& how,
                                Statistics& statistics) const {
  const Network& network = problem_.networks[m];
  Matrix<std::int64_t>& rows = statistics.rows[network.mode];
  const std::vector<std::int64_t> before = statistics.networks[m];
  const double log_likelihood =
      kernel_.allocate(prepared(edges, how), network_rates(state, network, m), key(Purpose::edge_counts, m), how.t,
                       sums_of({&rows, &rows}, statistics.networks[m], how));
  for (std::size_t r = 0; r < problem_.R; ++r) statistics.from_edges[r] += statistics.networks[m][r] - before[r];
  return log_likelihood;
}

double LatentCounts::impute_pairs(std::size_t m, const State& state, const How& how, Statistics& statistics) const {
  const Network& network = problem_.networks[m];
  Matrix<std::int64_t>& rows = statistics.rows[network.mode];
  const Sums sums = sums_of({&rows, &rows}, statistics.networks[m], how);
  const Entries missing{.coords = network.missing.data(), .count = network.missing.size() / 2, .missing = true};
  const double pairs = kernel_.allocate(prepared(missing, how), network_rates(state, network, m),
                                        key(Purpose::missing_pairs, m), how.t, sums);
  return pairs + kernel_.impute_diagonal(state.u[network.mode], state.networks[m].log_weight, key(Purpose::diagonal, m),
                                         how.t, sums);
}

}  // namespace ztp
