// Calibration: whether the share of ones among cells with similar probabilities is that probability.
#pragma once
#include <string>
#include <vector>

#include "ztp/metrics.hpp"
#include "ztp/posterior.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// How the test cells were sampled. The share of ones among them is that of the tensor only if ones and zeros were
// sampled alike.
struct TestDesign {
  enum class Zeros {
    as_ones,  // ones and zeros were sampled at the same rate
    drawn,    // some zeros were drawn: each stands for many
    unknown,  // neither
  };
  Zeros zeros = Zeros::unknown;
  double part_of_ones = 0;     // of all ones of the tensor, the part that is tested, and that the fit did not know
  double part_of_zeros = 0;    // the same of the zeros
  double zero_stands_for = 1;  // drawn: how many zeros a tested zero stands for, if a tested one stands for one
  bool missing = false;        // the test cells were missing in the fit, not zeros
};

// The design of the cells that the fit held out, or of a file. own: the file was given to the fit.
TestDesign design_of(const RunInfo& info, bool own, std::uint64_t ones, std::uint64_t zeros);

// Test cells with similar probabilities, and the share of ones among such cells of the tensor.
struct ReliabilityBin {
  double probability = 0;  // mean
  double expected = 0;  // the share that a model with these probabilities expects, which did not know the held-out ones
  double share = 0;
  double low = 0;  // of the share, 90 % interval
  double high = 0;
  std::uint64_t ones = 0, zeros = 0;  // test cells
  double stands_for = 0;              // cells of the tensor, where a tested one stands for one
};
// weighted: drawn zeros count for as many as they stand for.
std::vector<ReliabilityBin> reliability(MetricsCollector& cells, const TestDesign& design, bool weighted);

struct CalibrationVerdict {
  std::string calibrated;              // "yes", "no", "unknown"
  std::vector<std::string> sentences;  // the first says the main thing
  // The part of the ones that the model expects in the wrong bins, beyond what may be chance; NaN: unknown.
  double misplaced = 0;
};
CalibrationVerdict judge_calibration(const std::vector<ReliabilityBin>& bins, const TestDesign& design);

// All of it for the cells that the fit held out, or for those of a file.
struct Calibration {
  Calibration(Posterior& posterior, const std::string& file);

  MetricsCollector cells;
  Metrics metrics;
  TestDesign design;
  std::vector<ReliabilityBin> plain;
  std::vector<ReliabilityBin> weighted;  // empty, if zeros were not drawn
  CalibrationVerdict verdict;
};

}  // namespace ztp
