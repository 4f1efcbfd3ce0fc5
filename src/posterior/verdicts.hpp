// The three verdicts of a run from their parts.
#pragma once
#include <string>
#include <vector>

#include "posterior/calibration.hpp"
#include "ztp/verdicts.hpp"

namespace ztp {

// calibration: null, if there are no held-out cells.
std::vector<RunVerdict> judge_run(const std::string& run_dir, const RunInfo& info,
                                  const CalibrationVerdict* calibration);

}  // namespace ztp
