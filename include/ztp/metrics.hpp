// How good probabilities are, given what happened.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ztp/buffer.hpp"

namespace ztp {

// NaN where there is none: without ones or without zeros, AUCs, skill, calibration and `misplaced`; without cells,
// everything.
struct Metrics {
  // Of the test cells, each counted once: how well they are ordered.
  double auc_roc = 0;  // area under the ROC curve, ties by mid-ranks
  double auc_pr = 0;   // average precision: sum of precision times the step in recall, ties taken as one step
  // Of the tensor: each cell has the weight of the cells that it stands for.
  double log_loss = 0;  // mean, in nats, probabilities clamped to [1e-12, 1 - 1e-12]
  double brier = 0;     // mean squared error
  // 1 - log-loss / log-loss of a constant, the share of ones: 1 is perfect, 0 no better than that constant.
  double skill = 0;
  // Of the regression of outcomes on logits: 1 and 0 are right. A slope above 1: probabilities are too modest.
  double calibration_slope = 0;
  double calibration_intercept = 0;
  // The share of the ones that are expected in the wrong bins of the reliability diagram, beyond what may be chance.
  double misplaced = 0;
  // Of the test cells, each counted once: with drawn zeros these compare runs on the same cells, and do not describe
  // the tensor.
  double test_log_loss = 0;
  double test_brier = 0;
  double test_calibration_error = 0;  // mean |share of ones - mean probability| over 20 bins of equal size
  std::uint64_t ones = 0;             // test cells that were ones
  std::uint64_t zeros = 0;            // test cells that were zeros
  double zero_weight = 1;             // how many zeros of the tensor a zero stands for, on average
};

// Scores of counts (--likelihood count), of the tensor as above.
struct CountScores {
  double deviance = 0;   // mean of 2 (y log(y / m) - y + m), m the posterior mean of the rate: 0 is perfect
  double log_score = 0;  // mean of -log of the posterior predictive probability of y, in nats
};

// Scores of the model and, to compare, of popularity: there a cell's rate is the number of ones, times each of its
// entities' shares of the ones. If the probabilities of the model are calibrated, so are these, in the same way.
struct Evaluation : Metrics {
  Metrics popularity;
  std::optional<CountScores> counts;  // of a fit of counts
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
  double zero_weight = 0;          // sum over its zeros
  double squared_zero_weight = 0;  // of squared weights
  double probability = 0;          // sum over all of its cells, with their weights
  double probability_of_ones = 0;  // and over its ones alone
};

// Collects cells in any order: 24 bytes a cell.
class MetricsCollector {
 public:
  // A cell's predicted probability of being a one, and whether it is one. Probabilities outside [0, 1] count as the
  // nearer end. weight: how many cells of the tensor it stands for, if a one stands for one. tested: it is a test cell;
  // other cells, drawn to stand for many, enter only the scores of the tensor.
  void add(double probability, bool one, double weight = 1, bool tested = true);
  // Multiplies the weights of all zeros so far.
  void weigh_zeros(double weight);
  // The metrics of all cells so far; `misplaced` is not known here.
  Metrics finish();
  // At most 20 bins of equal size, ties kept together, smallest probabilities first. tensor: of all cells with their
  // weights, where all ones together fill as much of the bins as all zeros; else most bins would have zeros only.
  std::vector<CalibrationBin> calibration_bins(bool tensor = false);
  // Every probability that some test cell has, ascending, and how many ones and zeros have it.
  void for_ties(const std::function<void(double probability, std::uint64_t ones, std::uint64_t zeros)>& use);
  // Test cells so far.
  std::size_t size() const { return keys_.size(); }

 private:
  // The bits of a probability, its last bit replaced by the outcome: they sort as numbers.
  struct WeightedCell {
    std::uint64_t key;
    double weight;
  };
  void sort();
  Buffer<std::uint64_t> keys_;  // of test cells
  Buffer<WeightedCell> cells_;  // of all cells
  std::uint64_t ones_ = 0;      // among test cells
  bool sorted_ = true;
};

}  // namespace ztp
