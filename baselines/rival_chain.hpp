// What the paper's rivals share. The logit of a cell is theta = b + sum_r w_r prod_k u^(k)[i_k, r], all of it of either
// sign, and the cell is a one with probability 1 / (1 + exp(-theta)) (M32). They run, are recorded and resumed like any
// chain.
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"
#include "base/pool.hpp"
#include "kernel/logits.hpp"
#include "sampler/chain.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// Refers to the data, which must outlive it.
struct RivalProblem {
  const SparseTensor* tensor = nullptr;
  const Buffer<std::uint32_t>* missing = nullptr;  // cells (x K) that are neither ones nor zeros; sorted; may be null
  std::size_t R = 0;
  std::uint64_t seed = 0;
};

class RivalChain : public Chain {
 public:
  RivalChain(const RivalProblem& problem, Pool& pool, std::uint32_t number);

  // A State has positive weights: a negative sign goes to the factors of the first mode.
  void draw_state() override;
  std::vector<CheckpointField> checkpoint_fields() override;
  std::vector<double> learned() const override { return {intercept_ + offset_}; }
  void describe(SweepReport& report) const override;
  void probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const override;

 protected:
  // Throws a numeric Error, if a factor, a weight or the intercept is not finite. O(R sum_k n_k), little beside what
  // made them.
  void check_factors(std::size_t k, std::uint32_t t) const;
  void check_weights(std::uint32_t t) const;
  std::size_t order() const { return u_.size(); }
  // Of the cells it is fitted to; with the offset, of any. Refers to the factors.
  LogitModel model(double offset = 0) const;
  // Normal factors, the same for any number of threads; weights one, intercept the log odds of the training cells.
  void start_at_random(double deviation, double log_odds);

  const RivalProblem problem_;
  Pool& pool_;
  std::vector<Matrix<float>> u_;   // n_k x R
  std::vector<double> weight_;     // w, R
  std::vector<double> precision_;  // of the prior of each weight, where there is one; recorded as p
  double intercept_ = 0;           // b
  double offset_ = 0;              // to be added to b for predictions, where zeros were thinned out
};

}  // namespace ztp
