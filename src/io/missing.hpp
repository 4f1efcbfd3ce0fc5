// The files of what was not observed: cells, whole slices, and pairs of a network.
#pragma once
#include "base/pool.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Fills data.missing and the missing pairs of data.networks, when the tensor and the networks are complete. An Error if a file
// contradicts them. Costs O(n log n) in the lists and a pass over the ones, whatever the number of cells that are missing.
void read_missing(const ReadOptions& options, Pool& pool, Dataset& data);

// "MODE" or "MODE:N", as the network of the data that it names; an error of kind config that names the flag, and the remedy, if there is
// none.
Network& network_of_flag(const std::string& name, const std::string& flag, const std::string& remedy, Dataset& data);

}  // namespace ztp
