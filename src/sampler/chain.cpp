#include "sampler/chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ztp/error.hpp"

namespace ztp {

Chain::Chain(const Problem& problem, Kernel& kernel, std::uint32_t number)
    : problem_(problem), kernel_(kernel), number_(number) {
  const std::size_t R = problem.R;
  state_.R = R;
  state_.tensor = Weights(R);
  statistics_.tensor.assign(R, 0);
  for (const Mode& mode : problem.tensor->modes) {
    state_.u.emplace_back(mode.labels.size(), R);
    statistics_.rows.emplace_back(mode.labels.size(), R);
  }
  state_.networks.assign(problem.networks.size(), Weights(R));
  statistics_.networks.assign(problem.networks.size(), std::vector<std::int64_t>(R, 0));
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
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    Stream stream(key(Purpose::start), 0, e);
    const std::int64_t y = tensor.counts.empty() ? 1 : tensor.counts[e];
    const std::size_t r =
        stream.below(problem_.R);  // all of a count together: split up, every component would start the same
    for (std::size_t k = 0; k < tensor.order(); ++k) statistics_.rows[k].row(tensor.cell(e)[k])[r] += y;
    statistics_.tensor[r] += y;
  }
  for (std::size_t m = 0; m < problem_.networks.size(); ++m) {
    const Network& network = problem_.networks[m];
    for (std::size_t e = 0; e < network.size(); ++e) {
      Stream stream(key(Purpose::edge_start, m), 0, e);
      const std::size_t r = stream.below(problem_.R);
      for (const std::size_t end : {2 * e, 2 * e + 1}) statistics_.rows[network.mode].row(network.edges[end])[r] += 1;
      statistics_.networks[m][r] += 1;
    }
  }
  t_ = 0;
}

double Chain::sweep() {
  ++t_;
  draw_parameters();
  return draw_counts();
}

double Chain::draw_counts() {
  statistics_.clear();
  double log_likelihood = draw_tensor_counts();
  for (std::size_t m = 0; m < problem_.networks.size(); ++m) log_likelihood += draw_network_counts(m);
  check_invariants();
  return log_likelihood;
}

// u, p, lambda, h, beta given the counts.                                            (M5), (M6), (M7), (M13), (M14)
// Reads the statistics, writes the state, O(R sum_k n_k).
void Chain::draw_parameters() {
  for (std::size_t k = 0; k < state_.u.size(); ++k)
    kernel_.draw_columns(statistics_.rows[k], problem_.hyper.dirichlet[k], key(Purpose::columns, k), t_, state_.u[k]);
  draw_weights(problem_.hyper.tensor, statistics_.tensor, problem_.seed, number_, t_, -1, state_.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    draw_weights(problem_.hyper.network, statistics_.networks[m], problem_.seed, number_, t_, static_cast<int>(m),
                 state_.networks[m]);
}

// Latent counts of the ones given the parameters.                                                    (M3), (M4)
// Reads the state, adds into the statistics, O(nnz R K).
double Chain::draw_tensor_counts() {
  const SparseTensor& tensor = *problem_.tensor;
  const Rates tensor_rates = rates();
  Sums sums{{}, statistics_.tensor.data()};
  for (auto& rows : statistics_.rows) sums.rows.push_back(&rows);
  const Entries entries{tensor.coords.data(), tensor.counts.empty() ? nullptr : tensor.counts.data(), tensor.nnz()};
  // (M10): every cell adds -z to the log-likelihood, and all z together are sum_r lambda_r.
  return kernel_.allocate(entries, tensor_rates, key(Purpose::counts), t_, sums) - tensor_rates.total;
}

// Latent counts of the edges of network m and of its diagonal.                                      (M11), (M12)
// Reads the state, adds into the statistics, O(edges R + n R).
double Chain::draw_network_counts(std::size_t m) {
  const Network& network = problem_.networks[m];
  const Matrix<float>& u = state_.u[network.mode];
  Matrix<std::int64_t>& rows = statistics_.rows[network.mode];
  std::int64_t* totals = statistics_.networks[m].data();
  const Rates edge_rates = make_rates({&u, &u}, state_.networks[m].log_weight, 2);
  const Entries entries{network.edges.data(), nullptr, network.size()};
  const double edges =
      kernel_.allocate(entries, edge_rates, key(Purpose::edge_counts, m), t_, {{&rows, &rows}, totals});
  const double diagonal =
      kernel_.impute_diagonal(u, state_.networks[m].log_weight, key(Purpose::diagonal, m), t_, rows, totals);
  // All pairs and the diagonal together have rate sum_r beta_r, half of edge_rates.total; the diagonal is not data.
  return edges - (edge_rates.total / 2 - diagonal);
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
