// Two runs beside each other.
#pragma once
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ztp/report.hpp"

namespace ztp {

// The part of the data of a comparison that src/report/README.md lists, from "runs" to "sentences".
Json compare_runs(const std::string& run_dir, const std::string& other_dir, const ReportOptions& options,
                  std::vector<std::string>& notes);

}  // namespace ztp
