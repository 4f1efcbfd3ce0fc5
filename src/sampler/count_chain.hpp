// What the chains of the model itself share, batch or online: parameters from statistics of latent counts.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "kernel/kernel.hpp"
#include "sampler/any_chain.hpp"
#include "sampler/guard.hpp"
#include "sampler/latent_counts.hpp"
#include "sampler/problem.hpp"

namespace ztp {

// What a chain carries from step to step is the statistics, and the hyperparameters where they are learned: a step takes all
// parameters from them and then new counts from the parameters.
class CountChain : public AnyChain {
 public:
  CountChain(const Problem& problem, Kernel& kernel, std::uint32_t number);

  std::vector<Carried> carried() override;
  void restore(std::uint32_t t) override;
  std::vector<double> learned() const override { return learned_values(state_.shapes, problem_.hyper); }
  void describe(SweepReport& report) const override;
  void probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const override;  // (M16)

  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  Shapes& shapes() { return state_.shapes; }
  Rates rates() const { return tensor_rates(state_); }

 protected:
  // A step in two halves: new parameters from the statistics, which stay, and then new statistics. If the first half throws, as it does
  // when a number has gone bad, the chain is as it was before.
  double step_by_halves(const std::function<void()>& parameters, const std::function<double()>& counts);
  // u, p, lambda, h, beta given the statistics, as sweep t would draw them.                 (M5), (M6), (M7), (M13), (M14)
  // Reads the statistics, writes the state, O(R sum_k n_k). Throws, if any of them is not a number that counts can be drawn with.
  void draw_parameters(std::uint32_t t);
  // The last of these: that all weights are finite, and all rates together not too large for the counts.
  void check_weights_and_rates(std::uint32_t t) const;
  Place place(std::uint32_t t) const { return {problem_.tensor->modes, step_name(), t}; }
  virtual double observed_counts() const { return 0; }  // of the ones, where they are observed and stored one by one
  WeightPrior tensor_prior() const;
  WeightPrior network_prior(std::size_t m) const;

  const Problem& problem_;
  Kernel& kernel_;
  LatentCounts counts_;
  Statistics statistics_;
};

}  // namespace ztp
