#include "sampler/chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/learn.hpp"
#include "ztp/error.hpp"

namespace ztp {

Chain::Chain(const Problem& problem, Kernel& kernel, std::uint32_t number) : CountChain(problem, kernel, number) {
  data_changed();
  if (problem.regroup) regroup_.emplace(*problem.tensor, problem.hyper.tensor, problem.R);
}

void Chain::data_changed() {
  const std::vector<std::uint32_t> sizes = problem_.tensor->sizes();
  ones_by_row_ = index_rows(problem_.tensor->coords.data(), problem_.tensor->nnz(), {sizes.begin(), sizes.end()});
  observed_counts_ = 0;
  for (const std::int64_t count : problem_.tensor->counts) observed_counts_ += static_cast<double>(count);
  for (NetworkPart& network : networks_) network.index_edges();
  counts_.reserve(problem_.tensor->nnz());
}

void Chain::start() {
  const SparseTensor& tensor = *problem_.tensor;
  statistics_.clear();
  t_ = 0;
  if (starts_from_prior()) return;  // no counts: the first sweep draws from what the prior leaves open
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    Stream stream(counts_.key(Purpose::start), 0, e);
    const std::int64_t y = tensor.counts.empty() ? 1 : tensor.counts[e];
    // All of a count together: split up, every component would start the same.
    const std::size_t r = stream.below(problem_.R);
    for (std::size_t k = 0; k < tensor.order(); ++k) statistics_.rows[k].row(tensor.cell(e)[k])[r] += y;
    statistics_.tensor[r] += y;
  }
  statistics_.from_ones = statistics_.tensor;
  for (const NetworkPart& network : networks_) network.start(statistics_);
}

// A Gibbs sweep. Each step draws, given all else that is not said to be integrated out:
//   learn                      a, g, f, with u, p, lambda, h and beta integrated out        (M19), (M20), (M21)
//   draw_parameters            u; p and lambda; h and beta                                  (M5); (M6), (M7); (M13), (M14)
//   draw_counts                latent counts of the ones                                    (M3), (M4)
//                              latent counts of missing cells                               (M17), (M18)
//                              latent counts of networks: edges, missing pairs, diagonal    (M11), (M17), (M12)
//                              components of the ones' counts, parameters integrated out    (M22), (M23)
// If it throws before the counts, the chain is as it was; after that it is not whole().
double Chain::sweep(bool likelihood) {
  Step step(*this);
  if (t_ > problem_.learn_after) learn();
  draw_parameters(t_);
  step.begin_counts();
  const double log_likelihood = draw_counts(likelihood);
  step.end();
  return log_likelihood;
}

double Chain::draw_counts(bool likelihood) {
  statistics_.clear_totals();
  double log_likelihood = draw_tensor_counts(likelihood);
  for (const NetworkPart& network : networks_)
    log_likelihood += network.draw_counts(state_, how(likelihood), statistics_);
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
    Stream stream(counts_.key(Purpose::learn_shape, set), t_, 0);
    value = draw_gamma_shape(stream, value, prior, totals);
  };
  const std::vector<std::vector<std::int64_t>> ends = network_ends();
  for (std::size_t k = 0; hyper.learn_dirichlet && k < state_.u.size(); ++k) {
    std::vector<std::int64_t> totals = statistics_.tensor;
    for (std::size_t r = 0; r < problem_.R; ++r) totals[r] += ends[k][r];
    Stream stream(counts_.key(Purpose::learn_dirichlet, k), t_, 0);
    state_.shapes.dirichlet[k] =
        draw_dirichlet_parameter(stream, state_.shapes.dirichlet[k], hyper.dirichlet[k],
                                 {static_cast<double>(state_.u[k].rows()), kernel_.tally(statistics_.rows[k]), totals});
  }
  if (!hyper.learn_shapes) return;
  shape(hyper.tensor, statistics_.tensor, 0, state_.shapes.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    shape(hyper.network, statistics_.networks[m], 1 + m, state_.shapes.networks[m]);
}

LatentCounts::How Chain::how(bool likelihood) const {
  return {.t = t_, .likelihood = likelihood, .bounded = problem_.bounded, .anywhere = starts_from_prior() && t_ == 1};
}

// Latent counts of the tensor's cells given the parameters.                                        (M3), (M4), (M17), (M18)
// Reads the state, writes the statistics, O(nnz R K).
double Chain::draw_tensor_counts(bool likelihood) {
  const SparseTensor& tensor = *problem_.tensor;
  const Entries ones{.coords = tensor.coords.data(),
                     .observed = tensor.counts.empty() ? nullptr : tensor.counts.data(),
                     .count = tensor.nnz(),
                     .by_row = ones_by_row_.empty() ? nullptr : &ones_by_row_};
  LatentCounts::How of_ones = how(likelihood);
  of_ones.fresh = true;
  of_ones.parts = regroup_ ? &allocation_ : nullptr;
  // (M10): every observed cell adds -z to the log-likelihood, and all z together are sum_r lambda_r.
  const double log_likelihood = counts_.draw_counts_of_ones(ones, state_, of_ones, statistics_);
  return log_likelihood - (rates().total - counts_.impute_missing(state_, how(likelihood), statistics_));
}

// Redraws the components of the ones' counts, given all counts, parameters integrated out.              (M22), (M23)
// Reads the allocation, changes the statistics; serial, O(counts R K).
void Chain::regroup() {
  const bool only_tokens = problem_.missing == nullptr && problem_.networks.empty();
  regroup_->run(allocation_, {state_.shapes, network_ends(), only_tokens}, {counts_.key(Purpose::regroup), t_},
                statistics_);
}

// For each mode and component, the counts of the column that come from networks.
std::vector<std::vector<std::int64_t>> Chain::network_ends() const {
  std::vector<std::vector<std::int64_t>> ends(state_.u.size(), std::vector<std::int64_t>(problem_.R, 0));
  for (const NetworkPart& network : networks_)
    for (std::size_t r = 0; r < problem_.R; ++r) ends[network.mode()][r] += network.stored_ends(statistics_, r);
  return ends;
}

// sum_j S^(k)[j, r] = s_r + 2 sum over the networks of mode k of v_r, for every k and r. Reads the statistics, O(R sum_k n_k).   (M15)
void Chain::check_invariants() const {
#ifdef ZTP_ASSERTIONS
  const std::vector<std::vector<std::int64_t>> ends = network_ends();
  for (std::size_t k = 0; k < statistics_.rows.size(); ++k)
    for (std::size_t r = 0; r < problem_.R; ++r) {
      const std::int64_t expected = statistics_.tensor[r] + ends[k][r];
      std::int64_t sum = 0;
      for (std::size_t j = 0; j < statistics_.rows[k].rows(); ++j) sum += statistics_.rows[k].row(j)[r];
      if (sum != expected)
        throw Error(ErrorKind::numeric, fmt::format("sweep {}: mode {}, component {}: counts sum to {}, not {}", t_,
                                                    k + 1, r + 1, sum, expected));
    }
#endif
}

}  // namespace ztp
