#include "kernel/cpu/bounds.hpp"

#include <cmath>

#include "kernel/bounded_draw.hpp"
#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/bounds.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

void norms_of_rows(const Matrix<float>& u, const float* root, std::size_t begin, std::size_t end,
                   Matrix<float>& norms) {
  const FlushToZero flush;
  const F32 f;
  for (std::size_t j = begin; j < end; ++j) {
    const float* row = u.row(j);
    float* norm = norms.row(j);
    for (std::size_t b = 0; b < norms.columns(); ++b) {
      Floats sum = hn::Zero(f);
      for (std::size_t r = b * lanes; r < (b + 1) * lanes; r += width) {
        const Floats value = hn::Mul(hn::Load(f, row + r), hn::Load(f, root + r));
        sum = hn::MulAdd(value, value, sum);
      }
      norm[b] = hn::GetLane(hn::SumOfLanes(f, sum));
    }
    // Squares below the range of floats are made up for, so that the bound still holds.
    for (std::size_t b = 0; b < norms.stride(); b += width) {
      const Floats square = hn::Add(hn::Load(f, norm + b), hn::Set(f, 0x1p-120f));
      hn::Store(hn::Mul(hn::Sqrt(square), hn::Set(f, bound_margin)), f, norm + b);
    }
  }
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(norms_of_rows);

Bounds make_bounds(Pool& pool, const HostRates& rates) {
  static_assert(components_per_block == lanes);
  const std::size_t K = rates.u.size(), blocks = padded(rates.R) / components_per_block;
  Matrix<float> root(1, rates.R);
  for (std::size_t r = 0; r < rates.R; ++r) root.row(0)[r] = std::pow(rates.weight[r], 1.0f / static_cast<float>(K));
  Bounds bounds;
  const bool shared = K == 2 && rates.u[0] == rates.u[1];
  for (std::size_t k = 0; k < (shared ? 1 : K); ++k) {
    bounds.norms.emplace_back(rates.u[k]->rows(), blocks);
    const Blocks rows{rates.u[k]->rows(), 256};
    pool.for_blocks(rows.count(), [&](std::size_t b) {
      HWY_DYNAMIC_DISPATCH(norms_of_rows)
      (*rates.u[k], root.row(0), rows.begin(b), rows.end(b), bounds.norms[k]);
    });
  }
  bounds.rates = rates;
  bounds.rates.R = blocks;
  bounds.rates.weight.assign(padded(blocks), 0.0f);
  std::fill(bounds.rates.weight.begin(), bounds.rates.weight.begin() + static_cast<std::ptrdiff_t>(blocks), 1.0f);
  for (std::size_t k = 0; k < K; ++k) bounds.rates.u[k] = &bounds.norms[shared ? 0 : k];
  return bounds;
}

}  // namespace ztp::cpu
#endif
