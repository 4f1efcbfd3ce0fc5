// One Markov chain of the batch Gibbs sampler.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "kernel/kernel.hpp"
#include "model/state.hpp"
#include "sampler/regroup.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

struct Problem {
  const SparseTensor* tensor = nullptr;
  std::span<const Network> networks;
  Hyperparameters hyper;
  std::size_t R = 0;
  std::uint64_t seed = 0;
  const Missing* missing = nullptr;  // null: every cell is observed
  bool start_from_prior = false;
  // Hyperparameters are learned from the sweep after this one on. A random allocation looks like columns that are all alike, and
  // would send a to infinity.
  std::uint32_t learn_after = 0;
  bool bounded =
      false;  // components of counts are found by way of bounds: for many components (kernel/bounded_draw.hpp)
  bool regroup = false;  // redraw the components of counts with the parameters integrated out (sampler/regroup.hpp)
};

// What a chain carries from sweep to sweep is the statistics, and the hyperparameters where they are learned: a sweep draws all
// parameters from them and then new counts from the parameters. A checkpoint therefore is these and the sweep number.
class Chain {
 public:
  Chain(const Problem& problem, Kernel& kernel, std::uint32_t number);

  // As the problem says: y = 1 for every one, its component uniform at random; or no counts, so that the first parameters come from
  // the prior, which gets stuck with few components unless the sampler can split them (docs/model.md, section 2).
  void start();
  // One full Gibbs sweep. Returns the log-likelihood of the tensor and the networks at the parameters it drew; with bounds that
  // costs more than the sweep, so it is not a number then unless asked for.
  double sweep(bool likelihood = true);
  // Says that the ones or the edges are others than before, as joint tests of the sampler change them: O(nnz K).
  void data_changed();
  // The second half of a sweep alone: all latent counts anew, at the parameters of the last sweep. For data that have
  // changed since then.
  double draw_counts(bool likelihood = true);
  // Goes on after sweep t, whose statistics the caller has put back.
  void restore(std::uint32_t t, const Shapes& shapes);

  std::uint32_t number() const { return number_; }
  std::uint32_t sweeps_done() const { return t_; }
  const State& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  std::vector<double> learned() const { return learned_values(state_.shapes, problem_.hyper); }
  Rates rates() const;  // of the tensor, at the current parameters

 private:
  void learn();
  void draw_parameters();
  double draw_tensor_counts(bool likelihood);
  double impute_missing(const Rates& rates, bool likelihood);
  double impute_slices(std::size_t k);
  double draw_network_counts(std::size_t m, bool likelihood);
  void regroup();
  std::vector<std::vector<std::int64_t>> network_ends() const;
  void check_invariants() const;
  StreamKey key(Purpose purpose, std::size_t mode = 0) const;

  const Problem& problem_;
  Kernel& kernel_;
  std::uint32_t number_;
  std::uint32_t t_ = 0;
  State state_;
  Statistics statistics_;
  std::vector<RowIndex> ones_by_row_;
  std::vector<std::vector<RowIndex>> edges_by_row_;  // of each network
  Allocation allocation_;                            // of the ones, if they are regrouped
  std::optional<Regroup> regroup_;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // for each mode with missing slices, one for each missing entity
};

}  // namespace ztp
