// What the chains of the model itself share, batch or online: parameters from statistics of latent counts.
#pragma once
#include <cstdint>
#include <vector>

#include "kernel/draw_columns.hpp"
#include "kernel/kernel.hpp"
#include "sampler/chain.hpp"
#include "sampler/guard.hpp"
#include "sampler/latent_counts.hpp"
#include "sampler/network_part.hpp"
#include "sampler/problem.hpp"
#include "ztp/error.hpp"

namespace ztp {

// What a chain carries from step to step is the statistics, and the hyperparameters where they are learned: a step
// takes all parameters from them and then new counts from the parameters.
class PoissonChain : public Chain {
 public:
  // wide: sums of counts may be larger than 32 bits hold.
  PoissonChain(const Problem& problem, Kernel& kernel, std::uint32_t number, bool wide);

  std::vector<CheckpointField> checkpoint_fields() override;
  void restore(std::uint32_t t) override;
  std::vector<double> learned() const override { return learned_values(state_, problem_.hyper); }
  void describe(SweepReport& report) const override;
  void probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const override;  // (M16)

  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  PriorShapes& shapes() { return state_.shapes; }
  Rates rates() const { return tensor_rates(state_); }

 protected:
  // A step in two halves: new parameters from the statistics, which stay, and then new statistics. Made before the
  // first half, when it counts the step. If that half throws, as it does when a number has gone bad, the chain is as it
  // was before.
  class Step {
   public:
    explicit Step(PoissonChain& chain);
    ~Step();
    void begin_counts();  // the second half: if it throws, the chain is not whole()
    void end();           // throws, if the counts have grown too large
   private:
    PoissonChain& chain_;
    const PriorShapes before_;
    bool goes_back_ = true;
  };

  using RowLists = std::vector<std::vector<std::uint32_t>>;  // for each factor matrix, rows in ascending order
  // Which parameters are drawn from the statistics, and how.
  struct ParameterRequest {
    std::uint32_t t = 0;             // the step that they are for
    std::uint32_t draw = 0;          // of several in one step
    const RowLists* rows = nullptr;  // of u these rows alone
    bool means = false;              // not draws but means                                                        (M28)
  };
  // u, p, lambda, h, beta given the statistics.                                        (M5), (M6), (M7), (M13), (M14)
  // Reads the statistics, writes the state, O(R sum_k n_k), or O(R rows). Throws, if any of them is not a number that
  // counts can be drawn with.
  void set_parameters(const ParameterRequest& request);
  // All of them, drawn as step t would.
  void draw_parameters(std::uint32_t t) { set_parameters({.t = t}); }
  // The sums of the columns of S of matrix f: what the tensor has, and the ends of its networks. O(R).          (M15)
  std::vector<double> column_totals(std::size_t f) const;
  // The same as they are stored, and those of the networks alone.
  virtual std::vector<std::int64_t> stored_column_totals(std::size_t f) const;
  std::vector<std::int64_t> stored_network_ends(std::size_t f) const;

  // The columns that the statistics are added up by. They may be others than those of the parameters, which came
  // before.
  virtual const FactorLayout& layout_of_counts() const { return state_.layout; }
  Error damaged_checkpoint() const;

  StepContext context(std::uint32_t t) const { return {problem_, step_name(), t}; }
  virtual double observed_counts() const { return 0; }  // of the ones, where they are observed and stored one by one

  const Problem& problem_;
  Kernel& kernel_;
  LatentCounts counts_;
  std::vector<NetworkPart> networks_;
  Statistics statistics_;

 private:
  StreamKey key(Purpose purpose, std::size_t index, const ParameterRequest& request) const;
  // Appends the draw, whose sums are to be looked at.
  void set_columns(std::size_t f, const ParameterRequest& request,
                   std::vector<std::pair<std::size_t, ColumnDraw>>& drawn);
  // That all weights are finite, and all rates together not too large for the counts.
  void check_weights_and_rates(std::uint32_t t) const;
};

}  // namespace ztp
