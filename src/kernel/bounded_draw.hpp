// The draw of an entry's count and components when there are many components: exact, though most of them are never
// looked at (docs/model.md, section 7). What the kernels share.                                                 (M24)
//
// Components come in blocks of 16. By the inequality of Cauchy and Schwarz the product of K Euclidean norms, one for
// each row, bounds a block's part of the rate. The largest bounds of the entry are replaced by the truth. Then
// candidates are drawn from a Poisson process with the bounds as rates, and each is kept with probability true rate /
// bound. If a one keeps none, it is drawn the plain way instead: either way the result is a Poisson process given that
// it is not empty, whatever the bounds were.
#pragma once
#include <cstdint>

#include "kernel/entry_draw.hpp"

namespace ztp {

// With fewer components than this, looking at all of them is as fast (docs/performance.md).
inline constexpr std::size_t least_rank_bounded = 640;

inline constexpr std::size_t components_per_block = 16;
// Bounds are this much larger than computed, against rounding: some 30 operations of 2^-24 each, and roots of weights
// good to 1e-6.
inline constexpr float bound_margin = 1.00002f;
// So many of the largest bounds are replaced by the truth, no two of them of blocks whose numbers are equal modulo 16:
// most often little else is left to choose from.
inline constexpr std::size_t blocks_known = 3;
// Where the bounds say that the rate may be more than this, the entry is drawn the plain way: it would have that many
// candidates.
inline constexpr double largest_bounded_rate = 8;

// Whether the candidates of an entry can be drawn one by one.
inline bool boundable(const HostCells& cells, std::size_t e, double total) {
  return cells.observed ? cells.observed[e] == 1 : total <= largest_bounded_rate;
}

}  // namespace ztp
