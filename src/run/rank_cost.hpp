// What each of several processes needs that share a chain.
#pragma once
#include "ztp/check.hpp"

namespace ztp {

// Whether it is known: of batch sampling, where columns are components.
bool has_process_cost(const FitOptions& complete);
// With so many processes a chain. Ones are counted, nothing is timed.
ProcessCost process_cost(const Dataset& data, const FitOptions& complete, std::size_t ranks);

}  // namespace ztp
