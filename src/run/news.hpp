// What new data bring to a run that has data already.
#pragma once
#include <string>
#include <vector>

#include "ztp/read.hpp"
#include "ztp/run_info.hpp"
#include "ztp/update.hpp"

namespace ztp {

// What has come, over the modes of the run as they are with it.
struct NewData {
  SparseTensor tensor;            // modes, and the ones that are new
  std::vector<Network> networks;  // as many as the run has, each with its new edges
};

// Reads the new data, and takes out what the run knew already. Error, if nothing is new, or more than can be counted.
// `old`: the data of the run in `run_dir`. The summary says what was found.
NewData read_news(const std::string& run_dir, const RunInfo& before, const ReadOptions& fresh, Dataset& old,
                  UpdateSummary& summary);

// Adds them to the data of the run: what is no longer missing is no longer said to be. Returns how many entities and
// cells that are.
std::uint64_t merge(const NewData& news, Dataset& data);

}  // namespace ztp
