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
  bool regroup =
      false;  // also redraw the components of counts with the parameters integrated out (sampler/regroup.hpp)
};

// What a chain carries from sweep to sweep is the statistics alone: a sweep draws all parameters from them and then new
// counts from the parameters. A checkpoint therefore is the statistics and the sweep number.
class Chain {
 public:
  Chain(const Problem& problem, Kernel& kernel, std::uint32_t number);

  // As the problem says: y = 1 for every one, its component uniform at random; or parameters drawn from the prior, which gets stuck
  // with few components unless the sampler can split them (docs/model.md, section 2).
  void start();
  // One full Gibbs sweep. Returns the log-likelihood of the tensor and the networks at the parameters it drew.
  double sweep();
  // The second half of a sweep alone: all latent counts anew, at the parameters of the last sweep. For data that have
  // changed since then, as joint tests of the sampler change them.
  double draw_counts();
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
  double draw_tensor_counts();
  double impute_missing(const Rates& rates);
  double impute_slices(std::size_t k);
  double draw_network_counts(std::size_t m);
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
  Allocation allocation_;  // of the ones, if they are regrouped
  std::optional<Regroup> regroup_;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // for each mode with missing slices, one for each missing entity
};

}  // namespace ztp
