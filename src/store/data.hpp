// The data in a run directory: labels/, data.bin (ones, counts, networks, missing cells) and test.tsv. A run can be
// resumed and queried without the original files.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Returns the names of the files.
std::vector<std::string> store_labels(const std::string& run_dir, const std::vector<Mode>& modes);
// indexed: labels can be looked up.
std::vector<Mode> load_modes(const std::string& run_dir, const RunInfo& info, bool indexed = true);

// What identifies the data of a run.
std::string fingerprint_of(const Dataset& data);

// Ones of a tensor file are not copied.
void store_data(const std::string& run_dir, const Dataset& data);
Dataset load_data(const std::string& run_dir, const RunInfo& info);
// Ones (and counts) are mapped, not read: for one of several processes, and for answers. The process that leads checks
// them, and alone has labels, without an index.
Dataset map_data(const std::string& run_dir, const RunInfo& info, bool leads);

// The path of test.tsv, the held-out cells, compared with the manifest. Error (config), if the run has none.
std::string stored_test_file(const std::string& run_dir, const RunInfo& info);
// The held-out cells, if there are any.
TestCells load_test_cells(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes,
                          unsigned threads);

// At least `count` training ones, if there are that many. All of them, if no tensor file is involved.
SparseTensor sample_of_ones(const std::string& run_dir, const RunInfo& info, std::size_t count);
// The data, with the training ones that have the given coordinates. All of them, mapped, if no tensor file is involved.
Dataset data_matching(const std::string& run_dir, const RunInfo& info,
                      const std::vector<std::optional<std::uint32_t>>& given);

}  // namespace ztp
