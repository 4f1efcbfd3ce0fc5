// The data inside a run directory: labels/, data.bin (ones, counts, networks, what is missing), test.tsv. With them a run can be
// resumed, and queried for unseen cells, wherever the original files have gone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Returns the names of the files.
std::vector<std::string> store_labels(const std::string& run_dir, const std::vector<Mode>& modes);
std::vector<Mode> load_modes(const std::string& run_dir, const RunInfo& info);

// What identifies the data of a run.
std::string fingerprint_of(const Dataset& data);

// Ones that are in a tensor file stay there.
void store_data(const std::string& run_dir, const Dataset& data);
Dataset load_data(const std::string& run_dir, const RunInfo& info);

// The held-out cells inside the run, checked. Error (config), if there are none.
std::string own_test_file(const std::string& run_dir, const RunInfo& info);

// At least `count` of the training ones, if there are as many; of a run without a tensor file, all of them.
SparseTensor sample_of_ones(const std::string& run_dir, const RunInfo& info, std::size_t count);
// The training ones with these coordinates; of a run without a tensor file, all of them.
SparseTensor ones_matching(const std::string& run_dir, const RunInfo& info,
                           const std::vector<std::optional<std::uint32_t>>& given);

}  // namespace ztp
