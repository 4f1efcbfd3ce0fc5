// A copy of the sampler's sweep into which bugs can be planted: a test that cannot see them proves nothing.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernel/draw_columns.hpp"
#include "model/distributions.hpp"
#include "model/learn.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/shared_chain.hpp"
#include "tiny_model.hpp"

namespace ztp::test {

enum class Bug {
  none,
  gamma_scale,              // lambda ~ Gamma(g + s, scale p / (1 - p)): the prior's scale, not the posterior's
  beta_shape,               // p ~ Beta(c eps + s, c (1 - eps)): lambda not integrated out
  totals_plus_one,          // s_r off by one in p and lambda
  no_truncation,            // a one counts once, never more
  no_diagonal,              // the diagonal of a network taken for observed zeros
  one_end,                  // an edge adds to the row of its first end alone, as in the paper's row sums
  ignores_data,             // parameters come from the prior, whatever the data; only pairing the two shows it
  missing_as_zeros,         // missing cells and pairs taken for observed zeros, as in the paper
  slices_twice,             // where missing slices of two modes cross, cells imputed for both
  listed_twice,             // a listed cell in a missing slice imputed for both
  learned_after,            // hyperparameters drawn after the parameters, which they are then not the law of
  collapsed_sees_ones,      // collapsed moves that think there are no counts but those of the ones
  collapsed_wrong_g,        // collapsed moves by another g than the weights
  collapsed_no_ends,        // collapsed moves that forget that columns hold counts of networks
  proposals_as_components,  // as many runs of splits and merges as components are occupied before them
  split_without_q,          // splits and merges accepted without the probability q of proposing the split
  split_without_places,     // or without R - R', the places that a new component may have
  split_without_pick,       // or as if all tokens were picked equally often
  no_self_cells,            // cells (i, i), which cannot be, taken for observed zeros
  no_tie_correction,        // a count of two tied modes in one column predicted as if they were two
  lowest_empty,             // a new component is the first without counts, not any of them
  p_not_shared,             // each component draws a p of its own
};

inline const char* name_of(Bug bug) {
  static constexpr const char* names[] = {"none",
                                          "gamma scale",
                                          "beta shape",
                                          "totals plus one",
                                          "no truncation",
                                          "no diagonal",
                                          "one end",
                                          "ignores data",
                                          "missing as zeros",
                                          "slices twice",
                                          "listed twice",
                                          "learned after",
                                          "collapsed sees ones alone",
                                          "collapsed by a wrong g",
                                          "collapsed forgets networks",
                                          "proposals as components",
                                          "split without q",
                                          "split without R - R'",
                                          "split without pick",
                                          "no self cells",
                                          "no tie correction",
                                          "lowest empty component",
                                          "p not shared"};
  return names[static_cast<int>(bug)];
}

// Splits and merges with a bug in their acceptance.
class FaultySplitMerge final : public SplitMerge {
 public:
  FaultySplitMerge(const SparseTensor& tensor, std::size_t R, Bug bug) : SplitMerge(tensor, R), bug_(bug) {}

 private:
  double log_acceptance(const SplitTerms& right) const override {
    SplitTerms terms = right;
    if (bug_ == Bug::split_without_q) terms.q = 0;
    if (bug_ == Bug::split_without_places) terms.components = 0;
    if (bug_ == Bug::split_without_pick) terms.pick = 0;
    return SplitMerge::log_acceptance(terms);
  }
  Bug bug_;
};

// One sweep as BatchChain does it, from the same pieces and the same random numbers, with a bug in it. `Bug::none` is
// BatchChain bit by bit, and tested to be (joint_calibration_test.cpp): what makes a twin fail is its bug and nothing
// else. For CP: matrix k is that of mode k.
class Twin {
 public:
  Twin(const Observed& observed, Kernel& kernel, Bug bug)
      : problem_(observed.problem()), R_(problem_.layout.components()), kernel_(kernel), bug_(bug) {
    if (bug == Bug::missing_as_zeros) problem_.missing = nullptr;
    if (bug == Bug::listed_twice) problem_.missing = &observed.missing_twice();
    state_ = make_state(problem_.layout, problem_.network_matrices(), problem_.hyper, kernel);
    statistics_ = make_statistics(problem_.layout, problem_.network_matrices(), false, kernel);
    if (problem_.collapsed)
      collapsed_moves_.emplace(*problem_.tensor, problem_.hyper.tensor, problem_.layout,
                               std::make_unique<FaultySplitMerge>(*problem_.tensor, R_, bug));
    in_slice_.resize(state_.factors.size());
    for (std::size_t k = 0; problem_.missing != nullptr && k < problem_.missing->slices.size(); ++k) {
      if (!problem_.missing->slices[k].empty()) in_slice_[k].assign(problem_.layout.size(k).rows, 0);
      for (const std::uint32_t j : problem_.missing->slices[k]) in_slice_[k][j] = 1;
    }
  }

  const State& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }

  // As a chain starts, which has nothing to do with bugs.
  void start() {
    BatchChain chain(problem_, kernel_, 0);
    chain.start();
    std::swap(statistics_, chain.statistics());
  }

  void data_changed() {}  // it keeps nothing of them
  PriorShapes& shapes() { return state_.shapes; }
  void restore(std::uint32_t t) { t_ = t; }

  void sweep() {
    ++t_;
    if (bug_ == Bug::ignores_data) statistics_.clear();
    if (bug_ != Bug::learned_after && t_ > problem_.learn_after) learn();
    for (std::size_t k = 0; k < state_.factors.size(); ++k)
      draw_columns(kernel_, {*statistics_.rows[k], state_.shapes.dirichlet[k]}, {}, key(Purpose::columns, k), t_,
                   *state_.factors[k]);
    draw_tensor_weights();
    for (std::size_t m = 0; m < state_.networks.size(); ++m)
      draw_weights(problem_.hyper.network.with_shape(state_.shapes.networks[m]), statistics_.networks[m], 1,
                   {key(Purpose::edge_weights, m), t_}, state_.networks[m]);
    if (bug_ == Bug::learned_after && t_ > problem_.learn_after) learn();
    draw_counts();
  }

  void draw_counts() {
    statistics_.clear();
    const SparseTensor& tensor = *problem_.tensor;
    const std::vector<std::int64_t> once(tensor.nnz(), 1);
    const std::int64_t* observed = tensor.counts.empty() ? nullptr : tensor.counts.data();
    if (bug_ == Bug::no_truncation) observed = once.data();
    const auto ones = upload(tensor.coords, problem_.layout, observed);
    DrawSettings of_ones = settings();
    if (collapsed_moves_) of_ones.parts = &allocation_;
    kernel_.allocate(*ones, tensor_rates(state_), key(Purpose::counts), of_ones, tensor_sums());
    statistics_.from_ones = statistics_.tensor;
    if (problem_.missing != nullptr) impute_missing();
    for (std::size_t m = 0; m < problem_.networks.size(); ++m) draw_network_counts(m);
    if (collapsed_moves_) run_collapsed_moves();
  }

 private:
  StreamKey key(Purpose purpose, std::size_t mode = 0) const {
    return stream_key(problem_.seed, 0, purpose, static_cast<std::uint32_t>(mode));
  }
  DrawSettings settings() const { return {.t = t_, .bounded = problem_.bounded}; }
  CountSums tensor_sums() { return sums_of_tensor(problem_.layout, statistics_); }
  std::unique_ptr<Ones> upload(const Buffer<std::uint32_t>& cells, const FactorLayout& layout,
                               const std::int64_t* observed = nullptr, bool missing = false) {
    return kernel_.upload({cells.data(), observed, cells.size() / layout.modes(), missing}, layout);
  }

  void learn() {
    const Hyperparameters& hyper = problem_.hyper;
    const std::vector<std::vector<std::int64_t>> ends = network_ends();
    for (std::size_t k = 0; hyper.learn_dirichlet && k < state_.factors.size(); ++k) {
      std::vector<std::int64_t> totals = statistics_.tensor;
      for (std::size_t r = 0; r < R_; ++r) totals[r] += ends[k][r];
      Stream stream(key(Purpose::learn_dirichlet, k), t_, 0);
      double& a = state_.shapes.dirichlet[k];
      a = draw_dirichlet_parameter(
          stream, a, hyper.dirichlet[k],
          {static_cast<double>(state_.factors[k]->rows()), kernel_.tally(*statistics_.rows[k]), totals});
    }
    if (!hyper.learn_shapes) return;
    Stream stream(key(Purpose::learn_shape), t_, 0);
    state_.shapes.tensor = draw_gamma_shape(stream, state_.shapes.tensor, hyper.tensor, statistics_.tensor);
    for (std::size_t m = 0; m < state_.networks.size(); ++m) {
      Stream of_network(key(Purpose::learn_shape, 1 + m), t_, 0);
      double& f = state_.shapes.networks[m];
      f = draw_gamma_shape(of_network, f, hyper.network, statistics_.networks[m]);
    }
  }

  void draw_tensor_weights() {
    const WeightPrior prior = problem_.hyper.tensor.with_shape(state_.shapes.tensor);
    std::vector<std::int64_t> totals = statistics_.tensor;
    if (bug_ == Bug::totals_plus_one)
      for (std::int64_t& total : totals) ++total;
    if (bug_ != Bug::gamma_scale && bug_ != Bug::beta_shape) {
      draw_weights(prior, totals, 1, {key(Purpose::weights), t_}, state_.tensor);
      return;
    }
    const double g = bug_ == Bug::beta_shape ? 0 : prior.shape;
    for (std::size_t r = 0; r < totals.size(); ++r) {
      Stream stream(key(Purpose::weights), t_, r);
      const double s = static_cast<double>(totals[r]);
      const LogBeta p =
          draw_log_beta(stream, prior.concentration * prior.mean + s, prior.concentration * (1 - prior.mean) + g);
      state_.tensor.log_p[r] = p.log_p;
      state_.tensor.log_weight[r] = draw_log_gamma(stream, prior.shape + s) + p.log_p;
      if (bug_ == Bug::gamma_scale) state_.tensor.log_weight[r] -= p.log_q;
    }
  }

  void impute_missing() {
    for (std::size_t k = 0; k < in_slice_.size(); ++k)
      if (!in_slice_[k].empty()) impute_slices(k);
    const auto cells = upload(problem_.missing->cells, problem_.layout, nullptr, true);
    kernel_.allocate(*cells, tensor_rates(state_), key(Purpose::missing_cells), settings(), tensor_sums());
  }

  void impute_slices(std::size_t k) {
    const std::size_t K = in_slice_.size();
    std::vector<RowMask> rows(K);
    std::vector<double> mean(R_);
    for (std::size_t r = 0; r < R_; ++r) mean[r] = std::exp(state_.tensor.log_weight[r]);
    for (std::size_t other = 0; other <= k; ++other) {
      if (in_slice_[other].empty() || (bug_ == Bug::slices_twice && other != k)) continue;
      rows[other] = {in_slice_[other].data(), static_cast<std::uint8_t>(other == k ? 1 : 0)};
      const std::vector<double> mass = kernel_.column_mass(*state_.factors[other], rows[other]);
      for (std::size_t r = 0; r < R_; ++r) mean[r] *= mass[r];
    }
    std::vector<std::int64_t> totals(R_);
    for (std::size_t r = 0; r < R_; ++r) {
      Stream stream(key(Purpose::slice_totals, k), t_, r);
      totals[r] = draw_poisson(stream, mean[r]);
      statistics_.tensor[r] += totals[r];
    }
    for (std::size_t other = 0; other < K; ++other)
      kernel_.place(*state_.factors[other], rows[other], totals, {key(Purpose::slice_places, k * K + other), t_}, 1,
                    *statistics_.rows[other]);
  }

  void draw_network_counts(std::size_t m) {
    const Network& network = problem_.networks[m];
    const FactorLayout::Size& size = problem_.layout.size(network.mode);
    const FactorLayout pairs = FactorLayout::pairs(size.rows, size.columns), ends_apart({0, 1}, {size, size}, R_);
    const Factors& u = *state_.factors[network.mode];
    Counts& rows = *statistics_.rows[network.mode];
    const auto nowhere = kernel_.counts(size.rows, size.columns, false);
    std::int64_t* totals = statistics_.networks[m].data();
    const CountSums sums = bug_ == Bug::one_end ? CountSums{&ends_apart, {&rows, nowhere.get()}, totals}
                                                : CountSums{&pairs, {&rows}, totals};
    const std::vector<double>& log_beta = state_.networks[m].log_weight;
    const Rates rates = make_rates(pairs, {&u}, log_beta, 2);
    kernel_.allocate(*upload(network.edges, pairs), rates, key(Purpose::edge_counts, m), settings(), sums);
    for (std::size_t r = 0; r < R_; ++r) statistics_.from_edges[r] += totals[r];
    if (bug_ != Bug::missing_as_zeros)
      kernel_.allocate(*upload(network.missing, pairs, nullptr, true), rates, key(Purpose::missing_pairs, m),
                       settings(), sums);
    if (bug_ != Bug::no_diagonal)
      kernel_.impute_diagonal(u, log_beta, key(Purpose::diagonal, m), settings(), rows, totals);
  }

  void run_collapsed_moves() {
    const bool only_tokens =
        bug_ == Bug::collapsed_sees_ones || (problem_.missing == nullptr && problem_.networks.empty());
    std::vector<std::vector<std::int64_t>> ends = network_ends();
    if (bug_ == Bug::collapsed_no_ends)
      for (auto& of_mode : ends) std::fill(of_mode.begin(), of_mode.end(), 0);
    PriorShapes shapes = state_.shapes;
    if (bug_ == Bug::collapsed_wrong_g) shapes.tensor *= 3;
    const CollapsedInputs inputs{shapes, std::move(ends), only_tokens};
    if (bug_ == Bug::proposals_as_components)
      split_and_merge(inputs);
    else
      collapsed_moves_->run(allocation_, inputs, {key(Purpose::collapsed), t_}, statistics_);
  }

  // Splits and merges alone, as often as the state they change says: a bug that the sampler once had.
  void split_and_merge(const CollapsedInputs& inputs) {
    Tokens tokens;
    for (const auto& block : allocation_)
      for (const Part& part : block) {
        tokens.entry.insert(tokens.entry.end(), static_cast<std::size_t>(part.count), part.entry);
        tokens.component.insert(tokens.component.end(), static_cast<std::size_t>(part.count), part.component);
      }
    const LatentSums before = sums_of(statistics_);
    std::vector<Matrix<double>> S;
    for (const CountTable& rows : before.rows) {
      Matrix<double>& counts = S.emplace_back(rows.size(), R_);
      for (std::size_t j = 0; j < rows.size(); ++j) std::copy(rows[j].begin(), rows[j].end(), counts.row(j));
    }
    TokenCounts counts{*problem_.tensor, inputs, tokens, S, statistics_};
    SplitMerge split_merge(*problem_.tensor, R_);
    const WeightPrior prior = problem_.hyper.tensor.with_shape(inputs.shapes.tensor);
    const std::size_t runs = occupied(statistics_);
    for (std::size_t i = 0; i < runs; ++i) split_merge.run(counts, prior, Stream(key(Purpose::collapsed), t_, 2 + i));
    LatentSums after = sums_of(statistics_);
    for (std::size_t k = 0; k < S.size(); ++k)
      for (std::size_t j = 0; j < S[k].rows(); ++j)
        for (std::size_t r = 0; r < R_; ++r) after.rows[k][j][r] = static_cast<std::int64_t>(S[k].row(j)[r]);
    set(after, statistics_);
  }

  // [k][r]: counts of column r of mode k that come from networks.
  std::vector<std::vector<std::int64_t>> network_ends() const {
    std::vector<std::vector<std::int64_t>> ends(state_.factors.size(), std::vector<std::int64_t>(R_, 0));
    for (std::size_t m = 0; m < problem_.networks.size(); ++m)
      for (std::size_t r = 0; r < R_; ++r) ends[problem_.networks[m].mode][r] += 2 * statistics_.networks[m][r];
    return ends;
  }

  Problem problem_;
  const std::size_t R_;
  Kernel& kernel_;
  Bug bug_;
  std::uint32_t t_ = 0;
  State state_;
  Statistics statistics_;
  Allocation allocation_;
  std::optional<CollapsedMoves> collapsed_moves_;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // as in LatentCounts
};

// The samplers under test, built alike: a chain, or a twin of it with a bug.
struct MakeChain {
  static constexpr Bug bug = Bug::none;
  BatchChain operator()(const Observed& observed, Kernel& kernel) const {
    return BatchChain(observed.problem(), kernel, 0);
  }
};
struct MakeTwin {
  Bug bug;
  Twin operator()(const Observed& observed, Kernel& kernel) const { return Twin(observed, kernel, bug); }
};

// Where components share columns, bugs are planted in the chain itself: by another problem, or by other moves.
class FaultyScan final : public TokenScan {
 public:
  FaultyScan(const Problem& problem, Bug bug) : TokenScan(problem), bug_(bug) {
    corrects_ties_ = bug != Bug::no_tie_correction;
  }

 private:
  std::size_t pick_empty(const std::vector<std::uint32_t>& empty, Stream& stream) const override {
    return bug_ == Bug::lowest_empty ? *std::min_element(empty.begin(), empty.end())
                                     : TokenScan::pick_empty(empty, stream);
  }
  Bug bug_;
};

inline Problem faulty(Problem problem, Bug bug) {
  if (bug == Bug::no_self_cells) problem.self_missing = false;
  if (bug == Bug::p_not_shared) problem.hyper.tensor.shared = false;
  if (bug == Bug::missing_as_zeros) problem.missing = nullptr;
  return problem;
}

struct FaultyProblem {
  Problem problem;
};
class SharedTwin final : private FaultyProblem, public SharedChain {
 public:
  SharedTwin(const Problem& right, Kernel& kernel, Bug bug)
      : FaultyProblem{faulty(right, bug)},
        SharedChain(problem, kernel, 0,
                    std::make_unique<ColumnMoves>(problem, std::make_unique<FaultyScan>(problem, bug))) {}
};
struct MakeSharedTwin {
  Bug bug;
  SharedTwin operator()(const Observed& observed, Kernel& kernel) const {
    return SharedTwin(observed.problem(), kernel, bug);
  }
};
struct MakeSharedChain {
  static constexpr Bug bug = Bug::none;
  SharedChain operator()(const Observed& observed, Kernel& kernel) const {
    return SharedChain(observed.problem(), kernel, 0);
  }
};

// A sampler with a bug may run away to infinity; there is nothing to be learned from following it.
inline bool diverged(const State& state) {
  static const double most = std::log(1e6);
  for (const double log_lambda : state.tensor.log_weight)
    if (!(log_lambda < most)) return true;
  return false;
}

}  // namespace ztp::test
