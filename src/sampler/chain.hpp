// One Markov chain of the batch Gibbs sampler.
#pragma once
#include <cstdint>
#include <span>

#include "kernel/kernel.hpp"
#include "model/state.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

struct Problem {
  const SparseTensor* tensor = nullptr;
  std::span<const Network> networks;
  Hyperparameters hyper;
  std::size_t R = 0;
  std::uint64_t seed = 0;
};

// What a chain carries from sweep to sweep is the statistics alone: a sweep draws all parameters from them and then new
// counts from the parameters. A checkpoint therefore is the statistics and the sweep number.
class Chain {
 public:
  Chain(const Problem& problem, Kernel& kernel, std::uint32_t number);

  // y = 1 for every one, its component uniform at random; never from a prior draw (docs/model.md, section 2).
  void start();
  // Goes on after sweep t, whose statistics the caller has put back.
  void restore(std::uint32_t t) { t_ = t; }
  // One full Gibbs sweep. Returns the log-likelihood of the tensor and the networks at the parameters it drew.
  double sweep();
  // The second half of a sweep alone: all latent counts anew, at the parameters of the last sweep. For data that have
  // changed since then, as joint tests of the sampler change them.
  double draw_counts();

  std::uint32_t number() const { return number_; }
  std::uint32_t sweeps_done() const { return t_; }
  const State& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  Rates rates() const;  // of the tensor, at the current parameters

 private:
  void draw_parameters();
  double draw_tensor_counts();
  double draw_network_counts(std::size_t m);
  void check_invariants() const;
  StreamKey key(Purpose purpose, std::size_t mode = 0) const;

  const Problem& problem_;
  Kernel& kernel_;
  std::uint32_t number_;
  std::uint32_t t_ = 0;
  State state_;
  Statistics statistics_;
};

}  // namespace ztp
