// A run in numbers, for its report and for comparisons.
#pragma once
#include <string>

#include "base/json.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

Json describe_run(const std::string& run_dir, const RunInfo& info);  // "run" of src/report/README.md

}  // namespace ztp
