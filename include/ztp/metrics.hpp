// How good probabilities are, given what happened.
#pragma once
#include <cstdint>

#include "ztp/buffer.hpp"

namespace ztp {

struct Metrics {
  double auc_roc = 0;   // ties by mid-ranks
  double auc_pr = 0;    // average precision: sum of precision times the step in recall, ties taken as one step
  double log_loss = 0;  // mean, probabilities clamped to [1e-12, 1 - 1e-12]
  double brier = 0;     // mean squared error
  double calibration_error =
      0;  // mean |share of ones - mean probability| over 20 bins of equal size, ties kept together
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
};

// Collects cells in any order: eight bytes a cell. AUCs are NaN where there are no ones or no zeros.
class MetricsCollector {
 public:
  void add(double probability, bool one);
  Metrics finish();
  std::size_t size() const { return keys_.size(); }

 private:
  Buffer<std::uint64_t>
      keys_;  // the bits of the probability, its last bit replaced by the outcome: they sort as numbers
  double log_loss_ = 0;
  double brier_ = 0;
  std::uint64_t ones_ = 0;
};

}  // namespace ztp
