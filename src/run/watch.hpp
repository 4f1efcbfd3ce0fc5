// The cells whose probabilities are recorded in every sweep, to see whether chains agree on what they predict.
#pragma once
#include "ztp/read.hpp"

namespace ztp {

// At most 32 ones and 32 zeros of the held-out cells; without any, 32 training ones and 32 cells drawn uniformly. A
// function of the data and the seed.
TestCells watched_cells(const Dataset& data, const TestCells& held_out, std::uint64_t seed);

}  // namespace ztp
