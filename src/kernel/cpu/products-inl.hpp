// The products weight[r] prod_k u[k][i_k, r] of one cell after another, in lanes. Compiled once for every instruction
// set.
#if defined(ZTP_KERNEL_CPU_PRODUCTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZTP_KERNEL_CPU_PRODUCTS_INL_HPP
#undef ZTP_KERNEL_CPU_PRODUCTS_INL_HPP
#else
#define ZTP_KERNEL_CPU_PRODUCTS_INL_HPP
#endif

#include <hwy/cache_control.h>

#include <limits>
#include <vector>

#include "kernel/cpu/lanes-inl.hpp"
#include "kernel/host_rates.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {

// Cells come sorted, so the product over the leading modes is kept for as long as their coordinates stay the same.
class Products {
 public:
  explicit Products(const HostRates& rates)
      : K_(rates.u.size()), stride_(padded(rates.R)), last_(K_, no_row), partial_(K_, stride_) {
    for (std::size_t r = 0; r < stride_; ++r) partial_.row(0)[r] = rates.weight[r];
    for (const auto* matrix : rates.u) {
      u_.push_back(matrix->row(0));
      fetch_.push_back(matrix->bytes() > fits_in_cache);
    }
  }

  std::size_t stride() const { return stride_; }

  // Adds up the products of `cell` lane by lane: sums[l] is the sum of the products l, l + 16, l + 32, .... If `keep`,
  // the products themselves are written too.
  template <bool keep>
  HWY_INLINE void compute(const std::uint32_t* cell, float* HWY_RESTRICT product, float* HWY_RESTRICT sums) {
    const F32 f;
    for (std::size_t k = same(cell); k < K_ - 1; ++k) {
      const float* HWY_RESTRICT before = partial_.row(k);
      const float* HWY_RESTRICT row = u_[k] + cell[k] * stride_;
      float* HWY_RESTRICT after = partial_.row(k + 1);
      for (std::size_t r = 0; r < stride_; r += width)
        hn::Store(hn::Mul(hn::Load(f, before + r), hn::Load(f, row + r)), f, after + r);
      last_[k] = cell[k];
    }
    const float* HWY_RESTRICT before = partial_.row(K_ - 1);
    const float* HWY_RESTRICT row = u_[K_ - 1] + cell[K_ - 1] * stride_;
    Floats sum[lanes / width];
    for (Floats& s : sum) s = hn::Zero(f);
    for (std::size_t r = 0; r < stride_; r += lanes)
      for (std::size_t i = 0; i < lanes / width; ++i) {
        const Floats value = hn::Mul(hn::Load(f, before + r + i * width), hn::Load(f, row + r + i * width));
        if (keep) hn::Store(value, f, product + r + i * width);
        sum[i] = hn::Add(sum[i], value);
      }
    for (std::size_t i = 0; i < lanes / width; ++i) hn::Store(sum[i], f, sums + i * width);
  }

  // Asks for the rows of a cell to come. Of sorted cells the first mode's hardly ever change.
  HWY_INLINE void prefetch(const std::uint32_t* cell) const {
    for (std::size_t k = 0; k < K_; ++k) {
      if (!fetch_[k] || (k == 0 && cell[0] == last_[0])) continue;
      const float* row = u_[k] + cell[k] * stride_;
      for (std::size_t r = 0; r < stride_; r += 16) __builtin_prefetch(row + r);
    }
  }

 private:
  static constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t fits_in_cache = std::size_t{1} << 18;

  std::size_t same(const std::uint32_t* cell) const {
    std::size_t k = 0;
    while (k < K_ - 1 && cell[k] == last_[k]) ++k;
    return k;
  }

  std::size_t K_, stride_;
  std::vector<const float*> u_;
  std::vector<std::uint8_t> fetch_;
  std::vector<std::uint32_t> last_;  // coordinates that partial_ holds
  Matrix<float> partial_;            // row k: the weights times the product over modes 0..k-1
};

}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
