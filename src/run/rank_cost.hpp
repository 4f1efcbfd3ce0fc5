// What each of several processes needs that share a chain.
#pragma once
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

struct RankCost {
  double memory = 0;           // bytes, of a process
  double bytes_per_sweep = 0;  // that a process sends to others
};

// Batch sampling of a model whose columns are components, by so many processes. Ones are counted, nothing is timed.
RankCost rank_cost(const Dataset& data, const FitOptions& complete, std::size_t ranks);

}  // namespace ztp
