// Bayesian logistic CP (Rai et al. 2014; docs/model.md, section 13): Gibbs sampling with Polya-Gamma variables, normal
// factors, and weights that a multiplicative gamma process shrinks, so that the rank is inferred (M33).
#pragma once
#include <vector>

#include "baselines/rival_chain.hpp"
#include "baselines/training_cells.hpp"
#include "kernel/host_arrays.hpp"

namespace ztp {

class LogisticChain final : public RivalChain {
 public:
  // `zeros`: how many of them the model is fitted to (zeros_wanted). `ridge`: the precision of the factors' prior.
  LogisticChain(const RivalProblem& problem, std::uint64_t zeros, Pool& pool, std::uint32_t number, double ridge = 1);

  void start() override;
  // One Gibbs sweep: factors of each mode, weights and intercept, shrinkage, all given the Polya-Gamma variables, and
  // then these.
  // Returns the log-likelihood of the training cells.
  double step(bool likelihood) override;
  std::vector<CheckpointField> checkpoint_fields() override;
  void restore(std::uint32_t t) override;

 private:
  double draw_latent();           // omega                                                                (M34)
  void draw_rows(std::size_t k);  // u^(k)                                                                (M35)
  void draw_row(std::size_t k, std::size_t j, class RowWork& work);
  void draw_weights();    // w and b                                                                      (M36)
  void draw_shrinkage();  // delta and tau                                                                (M38)

  const double ridge_;
  TrainingCells cells_;
  std::vector<RowIndex> by_row_;
  std::vector<double> delta_;      // of the multiplicative gamma process, R
  Buffer<double> theta_;           // logits of the training cells
  Buffer<float> omega_;            // their Polya-Gamma variables
  std::int64_t latent_step_ = -1;  // after which they were drawn: they follow from the factors and this number
};

}  // namespace ztp
