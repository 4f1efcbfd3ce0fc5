// Probabilities of all entities of a mode, for many queries at once: for each draw a matrix product, then the link, added up over draws.
// Cost: queries x entities x (R multiplications and one exponential) a draw.
#pragma once
#include <cstddef>
#include <span>

#include "base/matrix.hpp"

namespace ztp::cpu {

inline constexpr std::size_t candidates_per_panel = 32;
inline constexpr std::size_t queries_per_tile = 8;

// One draw, laid out for the product z[q, j] = scale[q] sum_r weight[q, r] u[j, r].
struct CandidateDraw {
  const float* panels;   // [panel][r][32]: u of 32 candidates side by side; aligned to 64 bytes
  const float* weights;  // [tile][r][8]: of 8 queries side by side
  const float* scale;    // of each query, padded to tiles
};

// Candidates of one panel, R x 32; those beyond the last row are zero.
void pack_panel(const Matrix<float>& u, std::size_t panel, float* packed);

// sums[q, j] += probability in each of the draws, for the candidates j of one panel and the queries q of the tiles begin..end-1. All
// draws of a call are added before a sum is written: sums may be far larger than the cache. The sums are floats: at most one rounding
// of 6e-8 a draw.
void add_probabilities(std::span<const CandidateDraw> draws, std::size_t R, std::size_t panel, std::size_t begin,
                       std::size_t end, Matrix<float>& sums);

}  // namespace ztp::cpu
