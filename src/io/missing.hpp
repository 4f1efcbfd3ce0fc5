// The files of what was not observed: cells, whole slices, and pairs of a network.
#pragma once
#include "base/pool.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Fills data.missing and the missing pairs of data.networks, when the tensor and the networks are complete. An Error if
// a file contradicts them. Costs O(n log n) in the lists and a pass over the ones, whatever the number of cells that
// are missing.
void read_missing(const ReadOptions& options, Pool& pool, Dataset& data);

}  // namespace ztp
