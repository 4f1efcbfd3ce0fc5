// A run in numbers, for its report and for comparisons.
#pragma once
#include <string>

#include "base/json.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// The title of a run: the last part of its path.
std::string run_title(const std::string& run_dir);
Json describe_run(const std::string& run_dir, const RunInfo& info);  // "run" of src/report/README.md

}  // namespace ztp
