#include "sampler/batch_chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/learn.hpp"
#include "ztp/error.hpp"

namespace ztp {

namespace {

// More than 32 bits hold, if all latent counts were in one place. They are a few times the observed ones at most, or
// counts widen.
bool needs_wide_counts(const Problem& problem) {
  double total = static_cast<double>(problem.tensor->nnz());
  for (const std::int64_t count : problem.tensor->counts) total += static_cast<double>(count);
  for (const Network& network : problem.networks) total += 2 * static_cast<double>(network.size());
  return total > 0x1p31;
}

}  // namespace

BatchChain::BatchChain(const Problem& problem, Kernel& kernel, std::uint32_t number, bool uploads_ones)
    : PoissonChain(problem, kernel, number, needs_wide_counts(problem)), uploads_ones_(uploads_ones) {
  if (uploads_ones) counts_.upload_missing_cells();
  upload();
  if (problem.collapsed && problem.layout.columns_are_components())
    collapsed_moves_.emplace(*problem.tensor, problem.hyper.tensor, problem.layout);
}

void BatchChain::upload() {
  const SparseTensor& tensor = *problem_.tensor;
  if (uploads_ones_)
    ones_ = kernel_.upload({.coords = tensor.coords.data(),
                            .observed = tensor.counts.empty() ? nullptr : tensor.counts.data(),
                            .count = tensor.nnz(),
                            .indexed = true},
                           problem_.layout);
  observed_counts_ = 0;
  for (const std::int64_t count : tensor.counts) observed_counts_ += static_cast<double>(count);
  for (NetworkPart& network : networks_) network.upload_edges();
  counts_.reserve(tensor.nnz());
}

void BatchChain::start() {
  statistics_.clear();
  t_ = 0;
  if (starts_from_prior()) return;  // no counts: the first sweep draws from what the prior leaves open
  counts_.start(*ones_, statistics_);
  for (const NetworkPart& network : networks_) network.start(statistics_);
}

// A Gibbs sweep. Each step draws, given all else that is not said to be integrated out:
//   learn                      a, g, f, with u, p, lambda, h and beta integrated out        (M19), (M20), (M21)
//   draw_parameters            u; p and lambda; h and beta                               (M5); (M6), (M7); (M13), (M14)
//   draw_counts                latent counts of the ones                                    (M3), (M4)
//                              latent counts of missing cells                               (M17), (M18)
//                              latent counts of networks: edges, missing pairs, diagonal    (M11), (M17), (M12)
//                              components of the ones' counts, parameters integrated out    (M22), (M23)
// If it throws before the counts, the chain is as it was; after that it is not whole().
double BatchChain::sweep(bool likelihood) {
  Step step(*this);
  if (t_ > problem_.learn_after) learn();
  draw_structure();
  draw_parameters(t_);
  step.begin_counts();
  const double log_likelihood = draw_counts(likelihood);
  step.end();
  return log_likelihood;
}

double BatchChain::draw_counts(bool likelihood) {
  statistics_.clear_totals();
  double log_likelihood = draw_tensor_counts(likelihood);
  for (const NetworkPart& network : networks_)
    log_likelihood += network.draw_counts(state_, settings(likelihood), statistics_);
  move_counts();
  check_invariants();
  return log_likelihood;
}

// Hyperparameters given the counts, with what depends on them integrated out.                          (M20), (M21)
// Reads the statistics, writes state_.shapes, O(R sum_k n_k) for the tallies.
void BatchChain::learn() {
  const Hyperparameters& hyper = problem_.hyper;
  const auto shape = [&](const WeightPrior& prior, const std::vector<std::int64_t>& totals, std::size_t set,
                         double& value) {
    Stream stream(counts_.key(Purpose::learn_shape, set), t_, 0);
    value = draw_gamma_shape(stream, value, prior, totals);
  };
  for (std::size_t f = 0; hyper.learn_dirichlet && f < state_.factors.size(); ++f) {
    if (state_.layout.is_one_hot(f)) continue;
    Stream stream(counts_.key(Purpose::learn_dirichlet, f), t_, 0);
    double& a = state_.shapes.dirichlet[f];
    a = draw_dirichlet_parameter(stream, a, hyper.dirichlet[f],
                                 {static_cast<double>(problem_.layout.size(f).rows),
                                  kernel_.tally(*statistics_.rows[f]), stored_column_totals(f)});
  }
  if (!hyper.learn_shapes) return;
  shape(hyper.tensor, statistics_.tensor, 0, state_.shapes.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    shape(hyper.network, statistics_.networks[m], 1 + m, state_.shapes.networks[m]);
}

DrawSettings BatchChain::settings(bool likelihood) const {
  return {.t = t_, .likelihood = likelihood, .bounded = problem_.bounded, .anywhere = starts_from_prior() && t_ == 1};
}

// Latent counts of the tensor's cells given the parameters.                                  (M3), (M4), (M17), (M18)
// Reads the state, writes the statistics, O(nnz R K).
double BatchChain::draw_tensor_counts(bool likelihood) {
  DrawSettings of_ones = settings(likelihood);
  of_ones.fresh = true;
  of_ones.parts = collapsed_moves_ ? &allocation_ : nullptr;
  // (M10): every observed cell adds -z to the log-likelihood, and all z together are sum_r lambda_r.
  const double log_likelihood = counts_.draw_counts_of_ones(*ones_, state_, of_ones, statistics_);
  return log_likelihood - (rates().total - counts_.impute_missing(state_, settings(likelihood), statistics_));
}

// Redraws the components of the ones' counts, given all counts, parameters integrated out.              (M22), (M23)
// Reads the allocation, changes the statistics; serial, O(counts R K).
void BatchChain::move_counts() {
  if (!collapsed_moves_) return;
  const bool only_tokens = problem_.missing == nullptr && problem_.networks.empty();
  collapsed_moves_->run(allocation_, {state_.shapes, network_ends(), only_tokens},
                        {counts_.key(Purpose::collapsed), t_}, statistics_);
}

// For each factor matrix and column, the counts that come from networks.
std::vector<std::vector<std::int64_t>> BatchChain::network_ends() const {
  std::vector<std::vector<std::int64_t>> ends;
  for (std::size_t f = 0; f < state_.factors.size(); ++f) ends.push_back(stored_network_ends(f));
  return ends;
}

// sum_j S[j, q] is the total of column q, for every matrix. Reads the statistics, O(R sum_k n_k).   (M15)
void BatchChain::check_invariants() const {
#ifdef ZTP_ASSERTIONS
  for (std::size_t f = 0; f < statistics_.rows.size(); ++f) {
    if (state_.layout.is_one_hot(f)) continue;
    const std::vector<std::int64_t> expected = stored_column_totals(f);
    std::vector<std::int64_t> sums(expected.size(), 0);
    for_blocks_of_rows(*statistics_.rows[f], [&](Range rows, const std::int64_t* values) {
      for (std::size_t i = 0; i < rows.size() * sums.size(); ++i) sums[i % sums.size()] += values[i];
    });
    for (std::size_t q = 0; q < sums.size(); ++q)
      if (sums[q] != expected[q])
        throw Error(ErrorKind::numeric, fmt::format("sweep {}: mode {}, component {}: counts sum to {}, not {}", t_,
                                                    f + 1, q + 1, sums[q], expected[q]));
  }
#endif
}

}  // namespace ztp
