// Reads the files of missing cells, slices and pairs.
#pragma once
#include "base/pool.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Fills data.missing and the missing pairs of data.networks, once the tensor and the networks are complete. Error, if a
// file contradicts them. Takes O(n log n) in the length of the lists and one pass over the ones, however many cells are
// missing.
void read_missing(const ReadOptions& options, Pool& pool, Dataset& data);

}  // namespace ztp
