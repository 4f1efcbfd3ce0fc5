// Probabilities of candidates in lanes: for each draw a product of matrices, then the link, added up over draws.
#pragma once
#include <span>

#include "kernel/kernel.hpp"

namespace ztp::cpu {

// As in Kernel. All draws of a call are added before a sum is written: sums may be far larger than the cache.     (M16)
void add_probabilities(Pool& pool, std::span<const CandidateDraw> draws, std::size_t R, std::size_t tiles,
                       Matrix<float>& sums);

}  // namespace ztp::cpu
