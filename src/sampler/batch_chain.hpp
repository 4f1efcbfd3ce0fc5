// One Markov chain of the batch Gibbs sampler.
#pragma once
#include <cstdint>
#include <optional>

#include "sampler/collapsed_moves.hpp"
#include "sampler/poisson_chain.hpp"

namespace ztp {

class BatchChain : public PoissonChain {
 public:
  BatchChain(const Problem& problem, Kernel& kernel, std::uint32_t number)
      : BatchChain(problem, kernel, number, true) {}

  // As the problem says: y = 1 for every one, its component uniform at random; or no counts, so that the first
  // parameters come from the prior, which gets stuck with few components unless the sampler can split them
  // (docs/model.md, section 2).
  void start() override;
  // One full Gibbs sweep. Returns the log-likelihood of the tensor and the networks at the parameters it drew; with
  // bounds that costs more than the sweep, so it is not a number then unless asked for.
  double sweep(bool likelihood = true);
  double step(bool likelihood) override { return sweep(likelihood); }
  void draw_state() override {}  // a sweep leaves one
  // Says that the ones or the edges are others than before, as joint tests of the sampler change them: O(nnz K).
  virtual void data_changed() { upload(); }
  // The second half of a sweep alone: all latent counts anew, at the parameters of the last sweep. For data that have
  // changed since then.
  double draw_counts(bool likelihood = true);

 protected:
  // uploads_ones: not for a chain that has the ones and the missing cells in other hands.
  BatchChain(const Problem& problem, Kernel& kernel, std::uint32_t number, bool uploads_ones);
  bool starts_from_prior() const { return problem_.options.start == Start::prior; }
  DrawSettings settings(bool likelihood) const;
  std::vector<std::vector<std::int64_t>> network_ends() const;
  // What of the model is drawn before the parameters.
  virtual void draw_structure() {}
  // Latent counts of the tensor's cells. Returns their log-likelihood.
  virtual double draw_tensor_counts(bool likelihood);
  // Moves of counts with the parameters integrated out, at the end of a sweep.
  virtual void move_counts();

 private:
  void upload();
  double observed_counts() const override { return observed_counts_; }
  void learn();
  void check_invariants() const;

  bool uploads_ones_;
  double observed_counts_ = 0;
  std::unique_ptr<Ones> ones_;
  Allocation allocation_;  // of the ones, for the collapsed moves
  std::optional<CollapsedMoves> collapsed_moves_;
};

}  // namespace ztp
