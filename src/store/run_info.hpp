// options.json and status.json of a run directory, as they are written; ztp/run_info.hpp reads them.
#pragma once
#include <string>

#include "ztp/run_info.hpp"

namespace ztp {

// Once, when the run begins: it goes into the manifest.
void write_run_options(const std::string& run_dir, const RunInfo& info);
// At every checkpoint and at the end: the old file is replaced as a whole.
void write_run_status(const std::string& run_dir, const RunInfo& info);

}  // namespace ztp
