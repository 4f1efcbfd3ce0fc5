// What a running fit says of itself after every sweep.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ztp {

struct SweepReport {
  std::uint32_t chain = 0;    // from 0
  std::uint32_t sweep = 0;    // from 1
  double seconds = 0;         // of sampling alone, since the chain's start
  double log_likelihood = 0;  // of the tensor and its networks, at the parameters of this sweep
  std::size_t occupied = 0;   // components with at least one count
  double auc_roc = 0;         // of the held-out cells; NaN if they were not scored in this sweep
};

}  // namespace ztp
