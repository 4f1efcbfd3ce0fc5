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

inline constexpr std::size_t fetch_distance = 16;  // cells whose rows are asked for ahead

// Cells come sorted, so the product over the leading modes is kept for as long as their coordinates stay the same. Of
// three and more modes the last two are no leading ones, where rows are loaded: to write their products down, and to
// ask whether they are still good, costs more than a multiplication.
class Products {
 public:
  explicit Products(const HostRates& rates)
      : K_(rates.u.size()),
        leading_(K_ > 2 && rates.column.empty() ? K_ - 2 : K_ - 1),
        stride_(padded(rates.R)),
        end_((rates.R + width - 1) / width * width),
        last_(K_, no_row),
        partial_(K_, stride_) {
    for (std::size_t r = 0; r < stride_; ++r) partial_.row(0)[r] = rates.weight[r];
    for (std::size_t k = 0; k < K_; ++k) {
      u_.push_back(rates.u[k]->row(0));
      row_stride_.push_back(rates.u[k]->stride());
      if (!rates.column.empty()) column_.push_back(rates.column[k].data());
      if (rates.u[k]->bytes() <= fits_in_cache) continue;
      fetch_.push_back(k);
      if (k < 3) fetches_[k] = true;
    }
  }

  std::size_t stride() const { return stride_; }

  // Adds up the products of `cell` lane by lane: sums[l] is the sum of the products l, l + 16, l + 32, .... If `keep`,
  // the products themselves are written too, but for whole vectors of padding.
  template <bool keep>
  HWY_INLINE void compute(const std::uint32_t* cell, float* HWY_RESTRICT product, float* HWY_RESTRICT sums) {
    if (!column_.empty())
      multiply<keep, false>(
          cell, [stride = row_stride_.data()](std::size_t k) { return stride[k]; },
          [column = column_.data()](std::size_t k, const float* HWY_RESTRICT row, std::size_t r)
              HWY_ATTR { return hn::GatherIndex(F32(), row, hn::LoadU(I32(), column[k] + r)); },
          product, sums);
    else if (K_ > 2)
      load_and_multiply<keep, true>(cell, product, sums);
    else
      load_and_multiply<keep, false>(cell, product, sums);
  }

  // Whether compute_few computes the same.
  bool few() const { return K_ == 3 && column_.empty() && stride_ <= 2 * lanes; }

  // The products of `count` cells, one row after the other, and their sums: for few components, of which nothing is
  // kept from one cell to the next. Whether a coordinate is still the last one's cannot be foreseen, and asking costs
  // more than a multiplication. After each of the first `fetch` cells rows are asked for.
  HWY_INLINE void compute_few(const std::uint32_t* HWY_RESTRICT cells, std::size_t count, std::size_t fetch,
                              float* HWY_RESTRICT product, float* HWY_RESTRICT sums) const {
    compute_vectors<2 * lanes / width>(cells, count, fetch, product, sums);
  }

  // Asks for the rows of a cell to come. The first mode's row is often still the last one's; whether it is that of the
  // cell just before would be a better question, but its answer cannot be foreseen, and a wrong guess costs more.
  HWY_INLINE void prefetch(const std::uint32_t* cell) const {
    for (const std::size_t k : fetch_) {
      if (k == 0 && cell[0] == last_[0]) continue;
      if (!column_.empty()) {
        prefetch_columns(k, u_[k] + cell[k] * row_stride_[k]);
        continue;
      }
      const float* row = u_[k] + cell[k] * stride_;
      for (std::size_t r = 0; r < stride_; r += lanes) __builtin_prefetch(row + r);
    }
  }

 private:
  // For `vectors` of components, or fewer.
  template <std::size_t vectors>
  HWY_INLINE void compute_vectors(const std::uint32_t* HWY_RESTRICT cells, std::size_t count, std::size_t fetch,
                                  float* HWY_RESTRICT product, float* HWY_RESTRICT sums) const {
    if constexpr (vectors > 1)
      if (end_ < vectors * width) return compute_vectors<vectors - 1>(cells, count, fetch, product, sums);
    const F32 f;
    constexpr std::size_t stride = (vectors * width + lanes - 1) / lanes * lanes, in_lanes = lanes / width;
    const float* HWY_RESTRICT weight = partial_.row(0);
    const float* HWY_RESTRICT u[3] = {u_[0], u_[1], u_[2]};
    const bool fetches[3] = {fetches_[0], fetches_[1], fetches_[2]};
    for (std::size_t i = 0; i < count; ++i, cells += 3, product += stride, sums += lanes) {
      for (std::size_t k = 0; k < 3 && i < fetch; ++k)
        for (std::size_t r = 0; r < stride && fetches[k]; r += lanes)
          __builtin_prefetch(u[k] + cells[3 * fetch_distance + k] * stride + r);
      const float* HWY_RESTRICT row[3];
      for (std::size_t k = 0; k < 3; ++k) row[k] = u[k] + cells[k] * stride;
      Floats sum[in_lanes];
      for (Floats& s : sum) s = hn::Zero(f);
      for (std::size_t v = 0; v < vectors; ++v) {
        Floats value = hn::Load(f, weight + v * width);
        for (std::size_t k = 0; k < 3; ++k) value = hn::Mul(value, hn::Load(f, row[k] + v * width));
        hn::Store(value, f, product + v * width);
        sum[v % in_lanes] = hn::Add(sum[v % in_lanes], value);
      }
      for (std::size_t l = 0; l < in_lanes; ++l) hn::Store(sum[l], f, sums + l * width);
    }
  }

  template <bool keep, bool two>
  HWY_INLINE void load_and_multiply(const std::uint32_t* cell, float* HWY_RESTRICT product, float* HWY_RESTRICT sums) {
    multiply<keep, two>(
        cell, [stride = stride_](std::size_t) { return stride; },
        [](std::size_t, const float* HWY_RESTRICT row, std::size_t r) HWY_ATTR { return hn::Load(F32(), row + r); },
        product, sums);
  }

  // two: the last two modes are no leading ones. row_stride(k): of mode k. factors(k, row, r): of the components from r
  // on, one for each lane.
  template <bool keep, bool two, class Stride, class Load>
  HWY_INLINE void multiply(const std::uint32_t* cell, const Stride& row_stride, const Load& factors,
                           float* HWY_RESTRICT product, float* HWY_RESTRICT sums) {
    const F32 f;
    // Copies: the compiler must take it that a store of lanes may change any member.
    const std::size_t last = K_ - 1, leading = leading_, stride = stride_, end = end_;
    const float* const* HWY_RESTRICT u = u_.data();
    float* HWY_RESTRICT partial = partial_.row(0);
    for (std::size_t k = same(cell); k < leading; ++k) {
      const float* HWY_RESTRICT before = partial + k * stride;
      const float* HWY_RESTRICT row = u[k] + cell[k] * row_stride(k);
      float* HWY_RESTRICT after = partial + (k + 1) * stride;
      last_[k] = cell[k];
      for (std::size_t r = 0; r < end; r += width)
        hn::Store(hn::Mul(hn::Load(f, before + r), factors(k, row, r)), f, after + r);
    }
    const float* HWY_RESTRICT before = partial + leading * stride;
    const float* HWY_RESTRICT middle = two ? u[leading] + cell[leading] * row_stride(leading) : nullptr;
    const float* HWY_RESTRICT row = u[last] + cell[last] * row_stride(last);
    Floats sum[lanes / width];
    for (Floats& s : sum) s = hn::Zero(f);
    const auto add = [&](std::size_t r, Floats& to) HWY_ATTR {
      Floats value = hn::Load(f, before + r);
      if (two) value = hn::Mul(value, factors(leading, middle, r));
      value = hn::Mul(value, factors(last, row, r));
      if (keep) hn::Store(value, f, product + r);
      to = hn::Add(to, value);
    };
    std::size_t r = 0;
    for (; r + lanes <= end; r += lanes)
      for (std::size_t i = 0; i < lanes / width; ++i) add(r + i * width, sum[i]);
    for (std::size_t i = 0; i + 1 < lanes / width; ++i)
      if (r + i * width < end) add(r + i * width, sum[i]);
    for (std::size_t i = 0; i < lanes / width; ++i) hn::Store(sum[i], f, sums + i * width);
  }

  // Few columns one by one, many as the whole row.
  void prefetch_columns(std::size_t k, const float* row) const {
    if (stride_ < row_stride_[k] / lanes)
      for (std::size_t r = 0; r < stride_; ++r) __builtin_prefetch(row + column_[k][r]);
    else
      for (std::size_t r = 0; r < row_stride_[k]; r += lanes) __builtin_prefetch(row + r);
  }

  static constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t fits_in_cache = std::size_t{1} << 18;

  std::size_t same(const std::uint32_t* cell) const {
    std::size_t k = 0;
    while (k < leading_ && cell[k] == last_[k]) ++k;
    return k;
  }

  std::size_t K_;
  std::size_t leading_;  // modes whose product is kept
  std::size_t stride_;
  std::size_t end_;  // of the components, with what fills up their last vector
  std::vector<const float*> u_;
  std::vector<std::size_t> row_stride_;
  std::vector<const std::int32_t*> column_;  // of each mode; empty: component r has column r, and rows have stride_
  std::vector<std::size_t> fetch_;           // modes whose rows are asked for ahead
  bool fetches_[3] = {};                     // whether a mode is one of them
  std::vector<std::uint32_t> last_;          // coordinates that partial_ holds
  Matrix<float> partial_;                    // row k: the weights times the product over modes 0..k-1
};

}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
