// Probabilities of all entities of a mode, for many queries at once, in lanes: for each draw a product of matrices,
// then the link, added up over draws. On the host, whatever kernel has the draws: panels are packed from rows that are
// read through their handle.
#pragma once
#include <span>

#include "base/pool.hpp"
#include "model/arrays.hpp"

namespace ztp::cpu {

inline constexpr std::size_t candidates_per_panel = 32;
inline constexpr std::size_t queries_per_tile = 8;

// One draw, laid out for the product z[q, j] = scale[q] sum_c weight[q, c] u[j, c] over the columns c of the mode's
// matrix.    (M2)
struct CandidateDraw {
  const float* panels;   // [panel][c][32]: u of 32 candidates side by side; aligned to 64 bytes
  const float* weights;  // [tile][c][8]: of 8 queries side by side
  const float* scale;    // of each query, padded to tiles
};

// Candidates of one panel, columns x 32; those beyond the last row are zero.
void pack_panel(const Factors& u, std::size_t panel, float* packed);

// sums[q, j] += 1 - exp(-z[q, j]) in each of the draws, for the queries q of so many tiles and all candidates j that
// sums has columns for. The sums are floats: at most one rounding of 6e-8 a draw. All draws of a call are added before
// a sum is written: sums may be far larger than the cache. O(queries candidates columns) a draw.                (M16)
void add_probabilities(Pool& pool, std::span<const CandidateDraw> draws, std::size_t columns, std::size_t tiles,
                       Matrix<float>& sums);

}  // namespace ztp::cpu
