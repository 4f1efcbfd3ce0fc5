// The cells whose probabilities are recorded in cells.tsv, to see whether the chains agree on predictions.
#pragma once
#include "ztp/read.hpp"

namespace ztp {

// Up to 32 ones and 32 zeros of the held-out cells. If none are held out: 32 training ones and 32 uniformly drawn
// cells. A function of the data and the seed.
TestCells watched_cells(const Dataset& data, const TestCells& held_out, std::uint64_t seed);

}  // namespace ztp
