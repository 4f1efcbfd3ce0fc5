// The data inside a run directory: labels/, data.bin (ones, counts, networks, what is missing), test.tsv. With them a run can be
// resumed, and queried for unseen cells, wherever the original files have gone.
#pragma once
#include <string>
#include <vector>

#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

void store_labels(const std::string& run_dir, const std::vector<Mode>& modes);
std::vector<Mode> load_modes(const std::string& run_dir, const RunInfo& info);

void store_data(const std::string& run_dir, const Dataset& data);
Dataset load_data(const std::string& run_dir, const RunInfo& info);

}  // namespace ztp
