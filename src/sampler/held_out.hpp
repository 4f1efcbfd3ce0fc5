// Follows how well held-out cells are predicted while a chain runs.
#pragma once
#include <vector>

#include "sampler/chain.hpp"
#include "ztp/metrics.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

class HeldOut {
 public:
  explicit HeldOut(const TestCells& cells) : cells_(cells), sum_(cells.size(), 0.0), now_(cells.size(), 0.0) {}

  // AUC-ROC of the current draw alone (before and during burn-in).
  double score(const Chain& chain);
  // Adds the current draw to the posterior mean of the probabilities and returns the AUC-ROC of that mean.  (M16)
  double score_and_keep(const Chain& chain);

  std::vector<double>& sum() { return sum_; }
  std::uint64_t& draws() { return draws_; }
  // Bytes for so many cells: their sums, what they are now, and what the metrics sort.
  static double bytes(double cells) { return 3 * sizeof(double) * cells; }

 private:
  void compute(const Chain& chain);
  double auc(const std::vector<double>& probability, double divisor) const;

  const TestCells& cells_;
  std::vector<double> sum_;
  std::uint64_t draws_ = 0;
  std::vector<double> now_;
};

}  // namespace ztp
