// Probabilities of all entities of a mode, for many queries at once (Kernel::add_probabilities): how a draw is laid out for them.
#pragma once
#include <cstddef>

#include "base/matrix.hpp"

namespace ztp {

inline constexpr std::size_t candidates_per_panel = 32;
inline constexpr std::size_t queries_per_tile = 8;

// One draw, laid out for the product z[q, j] = scale[q] sum_r weight[q, r] u[j, r].                                 (M2)
struct CandidateDraw {
  const float* panels;   // [panel][r][32]: u of 32 candidates side by side; aligned to 64 bytes
  const float* weights;  // [tile][r][8]: of 8 queries side by side
  const float* scale;    // of each query, padded to tiles
};

// Candidates of one panel, R x 32; those beyond the last row are zero.
void pack_panel(const Matrix<float>& u, std::size_t panel, float* packed);

}  // namespace ztp
