// Writes options.json and status.json of a run directory; ztp/run_info.hpp reads them.
#pragma once
#include <string>

#include "ztp/run_info.hpp"

namespace ztp {

// Written once, when the run begins; listed in the manifest.
void write_run_options(const std::string& run_dir, const RunInfo& info);
// Written at every checkpoint and at the end, atomically.
void write_run_status(const std::string& run_dir, const RunInfo& info);

}  // namespace ztp
