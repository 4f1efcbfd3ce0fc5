// How good probabilities are, given what happened.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ztp/buffer.hpp"

namespace ztp {

// NaN where there is none: an AUC without ones or without zeros, everything without cells.
struct Metrics {
  double auc_roc = 0;   // area under the ROC curve, ties by mid-ranks
  double auc_pr = 0;    // average precision: sum of precision times the step in recall, ties taken as one step
  double log_loss = 0;  // mean, in nats, probabilities clamped to [1e-12, 1 - 1e-12]
  double brier = 0;     // mean squared error
  // Mean |share of ones - mean probability| over 20 bins of equal size, ties kept together.
  double calibration_error = 0;
  std::uint64_t ones = 0;   // cells that were ones
  std::uint64_t zeros = 0;  // cells that were zeros
};

// A metric as people and programs see it; the list of all of them is the one that 'ztp evaluate' prints.
struct MetricField {
  const char* key;    // in JSON
  const char* title;  // in a table
  int digits;         // there, after the point
  double Metrics::*member;
};
// In the order in which they are printed.
std::span<const MetricField> metric_fields();

// Cells with probabilities that are alike.
struct CalibrationBin {
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  double probability = 0;          // sum over all of its cells
  double probability_of_ones = 0;  // and over its ones alone
};

// Collects cells in any order: eight bytes a cell.
class MetricsCollector {
 public:
  // A cell's predicted probability of being a one, and whether it is one. Probabilities outside [0, 1] count as the
  // nearer end.
  void add(double probability, bool one);
  // The metrics of all cells so far.
  Metrics finish();
  // 20 bins of equal size at most, ties kept together, smallest probabilities first: those of the calibration error. A
  // zero takes as much room as so many ones.
  std::vector<CalibrationBin> calibration_bins(double size_of_zero = 1);
  // Every probability that some cell has, ascending, and how many ones and zeros have it.
  void for_ties(const std::function<void(double probability, std::uint64_t ones, std::uint64_t zeros)>& use);
  // Cells so far.
  std::size_t size() const { return keys_.size(); }

 private:
  void sort();
  // The bits of the probability, its last bit replaced by the outcome: they sort as numbers.
  Buffer<std::uint64_t> keys_;
  double log_loss_ = 0;
  double brier_ = 0;
  std::uint64_t ones_ = 0;
  bool sorted_ = true;
};

}  // namespace ztp
