// Rank plots (Vehtari and others, 2021): chains that agree have ranks that are spread evenly.
#pragma once
#include <cstdint>
#include <vector>

#include "evaluate/convergence.hpp"

namespace ztp {

inline constexpr std::size_t rank_bins = 20;

// Of the ranks among all draws (of equal draws, their mean), how many of each chain are in each of 20 equal ranges.
std::vector<std::vector<std::uint64_t>> rank_plot(const DrawsOfChains& draws);

}  // namespace ztp
