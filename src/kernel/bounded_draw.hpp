// The draw of an entry's count and components when there are many components: exact, and most of them are never looked at (docs/model.md,
// section 7). What the kernels share.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/entry_draw.hpp"
#include "kernel/kernel.hpp"

namespace ztp {

// Components come in blocks of this many, each with a bound on its part of the rate.
inline constexpr std::size_t components_per_block = 16;
// Bounds are this much larger than computed, against rounding: K + 20 operations of 2^-24 each, and powers good to 1e-6.
inline constexpr float bound_margin = 1.00002f;
// Where the bounds say that the rate may be more than this, the entry is drawn the plain way: it would have that many candidates.
inline constexpr double largest_bounded_rate = 8;

// Whether the candidates of an entry can be drawn one by one.
inline bool boundable(const Entries& entries, std::size_t e, double total) {
  return entries.observed ? entries.observed[e] <= 8 : total <= largest_bounded_rate;
}

// Added up four at a time, so that no sum waits for the one before it. The size is a multiple of 16.
inline double sum_of_bounds(std::span<const double> bounds) {
  double sum[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < bounds.size(); i += 4)
    for (std::size_t l = 0; l < 4; ++l) sum[l] += bounds[i + l];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// One entry, given bounds on its blocks' parts of the rate, in search order and padded with zeros. Candidates come from a process of
// the rate of the bounds, and each is kept with the probability that it belongs to the true one. While a one has none, all is drawn
// again, with the bound replaced by the truth where it is known by now: what is kept in the end does not depend on the bounds. (M24)
//   products(block, product): writes the parts of the 16 components of the block
//   keep(r): a unit of component r
template <class Products, class Keep>
void draw_bounded(Stream& stream, const Entries& entries, std::size_t e, std::span<double> bounds,
                  std::span<const std::size_t> order, const Products& products, const Keep& keep) {
  double product[components_per_block];
  std::int64_t kept = 0;
  const std::int64_t wanted = entries.observed ? entries.observed[e] : entries.missing ? 0 : 1;
  do {
    const double total = sum_of_bounds(bounds);
    std::int64_t candidates = 1;
    if (!entries.observed)
      candidates = entries.missing ? draw_poisson(stream, total) : draw_zero_truncated_poisson(stream, total);
    for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
      double target = stream.uniform() * total;
      std::size_t i = 0;
      while (i + 1 < order.size() && target >= bounds[i]) target -= bounds[i++];
      const double place = stream.uniform() * bounds[i];
      products(order[i], product);
      double sum = 0;
      std::size_t passed = 0;
      for (std::size_t l = 0; l < components_per_block; ++l) {
        sum += product[l];
        passed += sum <= place;
      }
      if (passed < components_per_block) {
        keep(order[i] * components_per_block + passed);
        ++kept;
      }
      if (candidates == 1) bounds[i] = std::min(bounds[i], sum);
    }
  } while (kept < wanted);
}

}  // namespace ztp
