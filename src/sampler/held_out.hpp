// Follows how well held-out cells are predicted while a chain runs.
#pragma once
#include <vector>

#include "kernel/kernel.hpp"
#include "ztp/metrics.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

class HeldOut {
 public:
  HeldOut(const TestCells& cells, Kernel& kernel) : cells_(cells), kernel_(kernel), sum_(cells.size(), 0.0) {}

  // AUC-ROC of the current draw alone (before and during burn-in).
  double score(const Rates& rates);
  // Adds the current draw to the posterior mean of the probabilities and returns the AUC-ROC of that mean.  (M16)
  double score_and_keep(const Rates& rates);

  std::vector<double>& sum() { return sum_; }
  std::uint64_t& draws() { return draws_; }

 private:
  void compute(const Rates& rates);
  double auc(const std::vector<double>& probability, double divisor) const;

  const TestCells& cells_;
  Kernel& kernel_;
  std::vector<double> sum_;
  std::uint64_t draws_ = 0;
  std::vector<double> now_;
};

}  // namespace ztp
