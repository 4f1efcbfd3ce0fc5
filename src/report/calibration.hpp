// Whether probabilities are right: of the cells that are given so much, that share are ones.
#pragma once
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ztp/metrics.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// How test cells came about. Shares of ones among them are those of the tensor only if ones and zeros were taken alike.
struct TestDesign {
  enum class Zeros {
    as_ones,  // as large a part of the zeros as of the ones is among the test cells
    drawn,    // some zeros were drawn: each stands for many
    unknown,  // neither
  };
  Zeros zeros = Zeros::unknown;
  double part_of_ones = 0;     // of all ones of the tensor, the part that is tested, and that the fit did not know
  double part_of_zeros = 0;    // the same of the zeros
  double zero_stands_for = 1;  // drawn: how many zeros, where each tested one stands for one
  bool missing = false;        // the fit did not take the test cells for zeros but for unknown
};

// Of the cells that the fit held out, or of a file (own: one that was given to the fit).
TestDesign design_of(const RunInfo& info, bool own, std::uint64_t ones, std::uint64_t zeros);

// Test cells with similar probabilities, and the share of ones that the tensor has among cells like these.
struct ReliabilityBin {
  double probability = 0;  // mean
  double expected = 0;  // the share that a model with these probabilities expects, which did not know the held-out ones
  double share = 0;
  double low = 0;  // of the share, 90 % interval
  double high = 0;
  std::uint64_t ones = 0, zeros = 0;  // test cells
  double stands_for = 0;              // cells of the tensor, where a tested one stands for one
};
// weighted: zeros that were drawn count for what they stand for.
std::vector<ReliabilityBin> reliability(MetricsCollector& cells, const TestDesign& design, bool weighted);

struct CalibrationVerdict {
  std::string calibrated;              // "yes", "no", "unknown"
  std::vector<std::string> sentences;  // the first says the main thing
  double misplaced =
      0;  // part of the ones that the model expects where they are not, beyond what may be chance; NaN: unknown
};
CalibrationVerdict judge_calibration(const std::vector<ReliabilityBin>& bins, const TestDesign& design);

}  // namespace ztp
