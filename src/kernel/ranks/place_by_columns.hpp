// Places counts on the rows of a matrix that several ranks share, whole columns at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "kernel/ranks/rank_arrays.hpp"

namespace ztp {

// Places drawn[r] counts on the rows in proportion to u[., r]^2, and adds `unit` of them to S for each. Column r comes
// to rank r modulo their number, whole, and what it has placed goes to the owners of the rows. All ranks call it.
void place_by_columns(Comm& comm, const RankFactors& u, const std::vector<std::int64_t>& drawn,
                      std::vector<Stream>& stream, std::int64_t unit, HostCounts& S);

}  // namespace ztp
