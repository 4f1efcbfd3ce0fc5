#include "kernel/cpu/score.hpp"

#include <cmath>

#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/score.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t fetch_distance = 8;

// The sums of products of `count` cells: z but for the scale, as floats give it.
void sum_products(const std::uint32_t* coords, std::size_t count, const HostRates& rates, double* totals) {
  const FlushToZero flush;
  const F32 f;
  const std::size_t K = rates.u.size();
  Products products(rates);
  alignas(64) float sums[lanes];
  for (std::size_t e = 0; e < count; ++e) {
    if (e + fetch_distance < count) products.prefetch(coords + (e + fetch_distance) * K);
    products.compute<false>(coords + e * K, nullptr, sums);
    Floats sum = hn::Load(f, sums);
    for (std::size_t l = width; l < lanes; l += width) sum = hn::Add(sum, hn::Load(f, sums + l));
    totals[e] = static_cast<double>(hn::GetLane(hn::SumOfLanes(f, sum)));
  }
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {
namespace {

constexpr std::size_t cells_per_block = 4096;

HWY_EXPORT(sum_products);

}  // namespace

double read_and_multiply(Pool& pool, const HostCells& cells, const HostRates& rates) {
  const Blocks blocks{cells.count, cells_per_block};
  std::vector<double> sums(blocks.count());
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    double totals[cells_per_block];
    const std::size_t count = blocks.end(b) - blocks.begin(b);
    HWY_DYNAMIC_DISPATCH(sum_products)(cells.coords + blocks.begin(b) * rates.u.size(), count, rates, totals);
    for (std::size_t e = 0; e < count; ++e) sums[b] += totals[e];
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum * rates.scale;
}

void score_block(const std::uint32_t* coords, std::size_t count, const HostRates& rates, double* z) {
  const std::size_t K = rates.u.size();
  HWY_DYNAMIC_DISPATCH(sum_products)(coords, count, rates, z);
  LogShares log_shares(rates);
  for (std::size_t e = 0; e < count; ++e) {
    if (z[e] > smallest_float_rate && z[e] < 1e30) {
      z[e] *= rates.scale;
      continue;
    }
    z[e] = std::exp(log_shares.of(coords + e * K));
  }
}

void score(Pool& pool, const std::uint32_t* coords, std::size_t count, const HostRates& rates, double* z) {
  const Blocks blocks{count, cells_per_block};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    const std::size_t begin = blocks.begin(b);
    score_block(coords + begin * rates.u.size(), blocks.end(b) - begin, rates, z + begin);
  });
}

}  // namespace ztp::cpu
#endif
