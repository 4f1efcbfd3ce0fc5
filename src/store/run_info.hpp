#pragma once
#include <string>

#include "ztp/run_info.hpp"

namespace ztp {

void write_run_options(const std::string& run_dir, const RunInfo& info);
void write_run_status(const std::string& run_dir, const RunInfo& info);

}  // namespace ztp
