// Calibration: whether the share of ones among cells with similar probabilities is that probability.
#pragma once
#include <string>
#include <vector>

#include "evaluate/test_design.hpp"
#include "ztp/metrics.hpp"
#include "ztp/posterior.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Test cells with similar probabilities, and the share of ones among such cells of the tensor.
struct ReliabilityBin {
  double probability = 0;  // mean
  // The share that is expected: without calibration, a model that did not know the held-out ones gives slightly too low
  // probabilities.
  double expected = 0;
  double share = 0;
  double low = 0;  // of the share, 90 % interval
  double high = 0;
  std::uint64_t ones = 0, zeros = 0;  // test cells
  double stands_for = 0;              // cells of the tensor, where a tested one stands for one
};
// tensor: cells count for as many as they stand for.
std::vector<ReliabilityBin> reliability(MetricsCollector& cells, const TestDesign& design, bool calibrated,
                                        bool tensor);

struct CalibrationVerdict {
  std::string calibrated;              // "yes", "no", "unknown"
  std::vector<std::string> sentences;  // the first says the main thing
  // The share of the ones that the model expects in the wrong bins, beyond what may be chance; NaN: unknown.
  double misplaced = 0;
  std::string against_popularity = {};  // a sentence, if the model does not beat it
};
CalibrationVerdict judge_calibration(const std::vector<ReliabilityBin>& bins, const TestDesign& design,
                                     bool calibrated);

// All of it for the cells that the fit held out (own), or for others.
struct Calibration {
  Calibration(Posterior& posterior, TestScores scores, bool own);
  // Of a file, or of the held-out cells without one.
  Calibration(Posterior& posterior, const std::string& file)
      : Calibration(posterior, posterior.score_test(file), file.empty()) {}

  TestScores scores;
  Evaluation metrics;
  TestDesign design;
  std::vector<ReliabilityBin> plain;   // of the test cells, each counted once
  std::vector<ReliabilityBin> tensor;  // of the tensor
  CalibrationVerdict verdict;
};

}  // namespace ztp
