// Follows how well held-out cells are predicted while a chain runs.
#pragma once
#include <span>
#include <vector>

#include "sampler/chain.hpp"
#include "ztp/metrics.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// The probabilities of the cells, added up over kept draws.
struct HeldOutSum {
  std::uint64_t draws = 0;
  std::vector<double> of_cells;
};

class HeldOut {
 public:
  explicit HeldOut(const TestCells& cells)
      : cells_(cells), sum_{0, std::vector<double>(cells.size(), 0.0)}, now_(cells.size(), 0.0) {}

  // AUC-ROC of the current draw alone (before and during burn-in).
  double score(const Chain& chain);
  // Adds the current draw to the posterior mean of the probabilities.  (M16)
  void keep(const Chain& chain);
  // Adds draws that were made before, or by another chain. Error (input), if they are not of these cells.
  void add(const HeldOutSum& more);
  // AUC-ROC of the mean over all draws that were added; not a number without any.
  double auc_of_mean() const;

  const HeldOutSum& sum() const { return sum_; }
  // Bytes for so many cells: their sums, what they are now, and what the metrics sort.
  static double bytes(double cells) { return 3 * sizeof(double) * cells; }

 private:
  void compute(const Chain& chain);
  double auc(std::span<const double> probability, double divisor) const;

  const TestCells& cells_;
  HeldOutSum sum_;
  std::vector<double> now_;
};

}  // namespace ztp
