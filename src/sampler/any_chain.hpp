// What the sampling loop and those who record it need of a chain, batch or online.
#pragma once
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "sampler/latent_counts.hpp"
#include "sampler/problem.hpp"

namespace ztp {

// What a chain carries from step to step is the statistics, and the hyperparameters where they are learned: a step takes all
// parameters from them and then new counts from the parameters. A checkpoint therefore is these and the number of the step.
class AnyChain {
 public:
  AnyChain(const Problem& problem, Kernel& kernel, std::uint32_t number);
  virtual ~AnyChain() = default;
  AnyChain(const AnyChain&) = delete;
  AnyChain& operator=(const AnyChain&) = delete;

  virtual void start() = 0;
  // One sweep, or one minibatch. Returns the log-likelihood of the tensor and the networks at its parameters, or what the minibatch says
  // of it; not a number, if it costs extra and is not asked for.
  virtual double step(bool likelihood) = 0;
  // Makes the state a draw of all parameters, if it is not one already.
  virtual void draw_state() = 0;
  // Goes on after step t, whose statistics the caller has put back.
  void restore(std::uint32_t t, const Shapes& shapes);

  std::uint32_t number() const { return number_; }
  std::uint32_t steps_done() const { return t_; }
  const State& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  std::vector<double> learned() const { return learned_values(state_.shapes, problem_.hyper); }
  Rates rates() const { return tensor_rates(state_); }

 protected:
  // u, p, lambda, h, beta given the statistics, as sweep t would draw them.                 (M5), (M6), (M7), (M13), (M14)
  // Reads the statistics, writes the state, O(R sum_k n_k).
  void draw_parameters(std::uint32_t t);
  WeightPrior tensor_prior() const;
  WeightPrior network_prior(std::size_t m) const;

  const Problem& problem_;
  Kernel& kernel_;
  std::uint32_t number_;
  LatentCounts counts_;
  std::uint32_t t_ = 0;
  State state_;
  Statistics statistics_;
};

}  // namespace ztp
