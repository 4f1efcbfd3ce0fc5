#include "sampler/chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/draws.hpp"
#include "model/learn.hpp"
#include "ztp/error.hpp"

namespace ztp {

namespace {

std::vector<std::uint32_t> sizes_of(const SparseTensor& tensor) {
  std::vector<std::uint32_t> sizes;
  for (const Mode& mode : tensor.modes) sizes.push_back(mode.labels.size());
  return sizes;
}

}  // namespace

Chain::Chain(const Problem& problem, Kernel& kernel, std::uint32_t number)
    : problem_(problem), kernel_(kernel), number_(number) {
  const std::vector<std::uint32_t> sizes = sizes_of(*problem.tensor);
  state_ = make_state(sizes, problem.networks.size(), problem.R, problem.hyper);
  statistics_ = make_statistics(sizes, problem.networks.size(), problem.R);
  in_slice_.resize(sizes.size());
  data_changed();
  if (problem.regroup) regroup_.emplace(*problem.tensor, problem.hyper.tensor, problem.R);
  if (problem.missing == nullptr) return;
  for (std::size_t k = 0; k < problem.missing->slices.size(); ++k) {
    if (problem.missing->slices[k].empty()) continue;
    in_slice_[k].assign(sizes[k], 0);
    for (const std::uint32_t j : problem.missing->slices[k]) in_slice_[k][j] = 1;
  }
}

void Chain::data_changed() {
  const std::vector<std::uint32_t> sizes = sizes_of(*problem_.tensor);
  ones_by_row_ = index_rows(problem_.tensor->coords.data(), problem_.tensor->nnz(), {sizes.begin(), sizes.end()});
  edges_by_row_.clear();
  for (const Network& network : problem_.networks) {
    const std::size_t n = sizes[network.mode];
    edges_by_row_.push_back(index_rows(network.edges.data(), network.size(), {n, n}, true));
  }
}

void Chain::restore(std::uint32_t t, const Shapes& shapes) {
  t_ = t;
  state_.shapes = shapes;
}

StreamKey Chain::key(Purpose purpose, std::size_t mode) const {
  return stream_key(problem_.seed, number_, purpose, static_cast<std::uint32_t>(mode));
}

Rates Chain::rates() const {
  std::vector<const Matrix<float>*> u;
  for (const auto& matrix : state_.u) u.push_back(&matrix);
  return make_rates(std::move(u), state_.tensor.log_weight);
}

void Chain::start() {
  const SparseTensor& tensor = *problem_.tensor;
  statistics_.clear();
  t_ = 0;
  if (problem_.start_from_prior) return;  // no counts: the first sweep draws from what the prior leaves open
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    Stream stream(key(Purpose::start), 0, e);
    const std::int64_t y = tensor.counts.empty() ? 1 : tensor.counts[e];
    const std::size_t r =
        stream.below(problem_.R);  // all of a count together: split up, every component would start the same
    for (std::size_t k = 0; k < tensor.order(); ++k) statistics_.rows[k].row(tensor.cell(e)[k])[r] += y;
    statistics_.tensor[r] += y;
  }
  statistics_.from_ones = statistics_.tensor;
  for (std::size_t m = 0; m < problem_.networks.size(); ++m) {
    const Network& network = problem_.networks[m];
    for (std::size_t e = 0; e < network.size(); ++e) {
      Stream stream(key(Purpose::edge_start, m), 0, e);
      const std::size_t r = stream.below(problem_.R);
      for (const std::size_t end : {2 * e, 2 * e + 1}) statistics_.rows[network.mode].row(network.edges[end])[r] += 1;
      statistics_.networks[m][r] += 1;
    }
  }
}

double Chain::sweep(bool likelihood) {
  ++t_;
  if (t_ > problem_.learn_after) learn();
  draw_parameters();
  return draw_counts(likelihood);
}

double Chain::draw_counts(bool likelihood) {
  statistics_.clear_totals();
  double log_likelihood = draw_tensor_counts(likelihood);
  for (std::size_t m = 0; m < problem_.networks.size(); ++m) log_likelihood += draw_network_counts(m, likelihood);
  if (regroup_) regroup();
  check_invariants();
  return log_likelihood;
}

// Hyperparameters given the counts, with what depends on them integrated out.                          (M20), (M21)
// Reads the statistics, writes state_.shapes, O(R sum_k n_k) for the tallies.
void Chain::learn() {
  const Hyperparameters& hyper = problem_.hyper;
  const auto shape = [&](const WeightPrior& prior, const std::vector<std::int64_t>& totals, std::size_t set,
                         double& value) {
    Stream stream(key(Purpose::learn_shape, set), t_, 0);
    value = draw_gamma_shape(stream, value, prior, totals);
  };
  const std::vector<std::vector<std::int64_t>> ends = network_ends();
  for (std::size_t k = 0; hyper.learn_dirichlet && k < state_.u.size(); ++k) {
    std::vector<std::int64_t> totals = statistics_.tensor;
    for (std::size_t r = 0; r < problem_.R; ++r) totals[r] += ends[k][r];
    Stream stream(key(Purpose::learn_dirichlet, k), t_, 0);
    state_.shapes.dirichlet[k] =
        draw_dirichlet_parameter(stream, state_.shapes.dirichlet[k], hyper.dirichlet[k],
                                 static_cast<double>(state_.u[k].rows()), kernel_.tally(statistics_.rows[k]), totals);
  }
  if (!hyper.learn_shapes) return;
  shape(hyper.tensor, statistics_.tensor, 0, state_.shapes.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    shape(hyper.network, statistics_.networks[m], 1 + m, state_.shapes.networks[m]);
}

// u, p, lambda, h, beta given the counts.                                            (M5), (M6), (M7), (M13), (M14)
// Reads the statistics, writes the state, O(R sum_k n_k).
void Chain::draw_parameters() {
  const auto with_shape = [](WeightPrior prior, double shape) {
    prior.shape = shape;
    return prior;
  };
  for (std::size_t k = 0; k < state_.u.size(); ++k)
    kernel_.draw_columns(statistics_.rows[k], state_.shapes.dirichlet[k], key(Purpose::columns, k), t_, state_.u[k]);
  draw_weights(with_shape(problem_.hyper.tensor, state_.shapes.tensor), statistics_.tensor, problem_.seed, number_, t_,
               -1, state_.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    draw_weights(with_shape(problem_.hyper.network, state_.shapes.networks[m]), statistics_.networks[m], problem_.seed,
                 number_, t_, static_cast<int>(m), state_.networks[m]);
}

// Latent counts of the ones given the parameters.                                                    (M3), (M4)
// Reads the state, adds into the statistics, O(nnz R K).
double Chain::draw_tensor_counts(bool likelihood) {
  const SparseTensor& tensor = *problem_.tensor;
  const Rates tensor_rates = rates();
  Sums sums{{}, statistics_.tensor.data()};
  sums.fresh = true;
  for (auto& rows : statistics_.rows) sums.rows.push_back(&rows);
  const Entries entries{.coords = tensor.coords.data(),
                        .observed = tensor.counts.empty() ? nullptr : tensor.counts.data(),
                        .count = tensor.nnz(),
                        .anywhere = problem_.start_from_prior && t_ == 1,
                        .bounded = problem_.bounded,
                        .likelihood = likelihood,
                        .by_row = ones_by_row_.empty() ? nullptr : &ones_by_row_};
  // (M10): every observed cell adds -z to the log-likelihood, and all z together are sum_r lambda_r.
  if (regroup_) sums.parts = &allocation_;
  const double ones = kernel_.allocate(entries, tensor_rates, key(Purpose::counts), t_, sums);
  statistics_.from_ones = statistics_.tensor;
  return ones - (tensor_rates.total - impute_missing(tensor_rates, likelihood));
}

// Latent counts of the missing cells, each exactly once: slices mode by mode, then the list.        (M17), (M18)
// Reads the state, adds into the statistics, O(list R K + R sum_k n_k). Returns the rate of all missing cells.
double Chain::impute_missing(const Rates& rates, bool likelihood) {
  if (problem_.missing == nullptr) return 0;
  double rate = 0;
  for (std::size_t k = 0; k < in_slice_.size(); ++k)
    if (!in_slice_[k].empty()) rate += impute_slices(k);
  Sums sums{{}, statistics_.tensor.data()};
  for (auto& rows : statistics_.rows) sums.rows.push_back(&rows);
  const Buffer<std::uint32_t>& cells = problem_.missing->cells;
  const Entries entries{.coords = cells.data(),
                        .count = cells.size() / in_slice_.size(),
                        .missing = true,
                        .bounded = problem_.bounded,
                        .likelihood = likelihood};
  return rate + kernel_.allocate(entries, rates, key(Purpose::missing_cells), t_, sums);
}

// The missing slices of mode k, outside those of the modes before it. For each component the counts of that block of cells are
// one Poisson total, and its coordinates are independent: missing rows in mode k, observed rows before it, all rows after it.
double Chain::impute_slices(std::size_t k) {
  const std::size_t K = in_slice_.size();
  std::vector<Rows> rows(K);
  for (std::size_t other = 0; other <= k; ++other)
    if (!in_slice_[other].empty())
      rows[other] = {in_slice_[other].data(), static_cast<std::uint8_t>(other == k ? 1 : 0)};
  std::vector<double> mean(problem_.R);
  for (std::size_t r = 0; r < problem_.R; ++r) mean[r] = std::exp(state_.tensor.log_weight[r]);
  for (std::size_t other = 0; other <= k; ++other) {
    if (rows[other].mask == nullptr) continue;
    const std::vector<double> mass = kernel_.column_mass(state_.u[other], rows[other]);
    for (std::size_t r = 0; r < problem_.R; ++r) mean[r] *= mass[r];
  }
  std::vector<std::int64_t> totals(problem_.R);
  double rate = 0;
  for (std::size_t r = 0; r < problem_.R; ++r) {
    Stream stream(key(Purpose::slice_totals, k), t_, r);
    totals[r] = draw_poisson(stream, mean[r]);
    statistics_.tensor[r] += totals[r];
    rate += mean[r];
  }
  for (std::size_t other = 0; other < K; ++other)
    kernel_.place(state_.u[other], rows[other], totals, key(Purpose::slice_places, k * K + other), t_,
                  statistics_.rows[other]);
  return rate;
}

// Latent counts of the edges of network m, of its missing pairs and of its diagonal.                (M11), (M12), (M17)
// Reads the state, adds into the statistics, O((edges + missing pairs) R + n R).
double Chain::draw_network_counts(std::size_t m, bool likelihood) {
  const Network& network = problem_.networks[m];
  const Matrix<float>& u = state_.u[network.mode];
  Matrix<std::int64_t>& rows = statistics_.rows[network.mode];
  std::int64_t* totals = statistics_.networks[m].data();
  const Rates edge_rates = make_rates({&u, &u}, state_.networks[m].log_weight, 2);
  const Sums sums{{&rows, &rows}, totals};
  const Entries edges{.coords = network.edges.data(),
                      .count = network.size(),
                      .anywhere = problem_.start_from_prior && t_ == 1,
                      .bounded = problem_.bounded,
                      .likelihood = likelihood,
                      .by_row = edges_by_row_[m].empty() ? nullptr : &edges_by_row_[m]};
  double log_likelihood = kernel_.allocate(edges, edge_rates, key(Purpose::edge_counts, m), t_, sums);
  for (std::size_t r = 0; r < problem_.R; ++r) statistics_.from_edges[r] += totals[r];
  const Entries missing{.coords = network.missing.data(),
                        .count = network.missing.size() / 2,
                        .missing = true,
                        .bounded = problem_.bounded,
                        .likelihood = likelihood};
  log_likelihood += kernel_.allocate(missing, edge_rates, key(Purpose::missing_pairs, m), t_, sums);
  const double diagonal =
      kernel_.impute_diagonal(u, state_.networks[m].log_weight, key(Purpose::diagonal, m), t_, rows, totals);
  // All pairs and the diagonal together have rate sum_r beta_r, half of edge_rates.total; the diagonal is not data.
  return log_likelihood - (edge_rates.total / 2 - diagonal);
}

// Redraws the components of the ones' counts, given all counts, parameters integrated out.              (M22), (M23)
// Reads the allocation, changes the statistics; serial, O(counts R K).
void Chain::regroup() {
  const bool only_tokens = problem_.missing == nullptr && problem_.networks.empty();
  regroup_->run(allocation_, state_.shapes, network_ends(), only_tokens, problem_.seed, number_, t_, statistics_);
}

// For each mode and component, the counts of the column that come from networks: two for each edge.
std::vector<std::vector<std::int64_t>> Chain::network_ends() const {
  std::vector<std::vector<std::int64_t>> ends(state_.u.size(), std::vector<std::int64_t>(problem_.R, 0));
  for (std::size_t m = 0; m < problem_.networks.size(); ++m)
    for (std::size_t r = 0; r < problem_.R; ++r) ends[problem_.networks[m].mode][r] += 2 * statistics_.networks[m][r];
  return ends;
}

void Chain::check_invariants() const {
  // A weight that is not a number is the first sign of anything gone wrong; O(R).
  for (std::size_t r = 0; r < problem_.R; ++r)
    if (std::isnan(state_.tensor.log_weight[r]))
      throw Error(ErrorKind::numeric, fmt::format("sweep {}: the weight of component {} is not a number", t_, r + 1));
#ifdef ZTP_ASSERTIONS
  // sum_j S^(k)[j, r] = s_r + 2 sum over the networks of mode k of v_r, for every k and r
  for (std::size_t k = 0; k < statistics_.rows.size(); ++k)
    for (std::size_t r = 0; r < problem_.R; ++r) {
      std::int64_t expected = statistics_.tensor[r], sum = 0;
      for (std::size_t m = 0; m < problem_.networks.size(); ++m)
        if (problem_.networks[m].mode == k) expected += 2 * statistics_.networks[m][r];
      for (std::size_t j = 0; j < statistics_.rows[k].rows(); ++j) sum += statistics_.rows[k].row(j)[r];
      if (sum != expected)
        throw Error(ErrorKind::numeric, fmt::format("sweep {}: mode {}, component {}: counts sum to {}, not {}", t_,
                                                    k + 1, r + 1, sum, expected));
    }
#endif
}

}  // namespace ztp
