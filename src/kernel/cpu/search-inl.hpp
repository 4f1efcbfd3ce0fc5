// A categorical draw for each of sixteen cells at once: products, running sums, and the place where a uniform number
// falls. Compiled once for every instruction set.
#if defined(ZTP_KERNEL_CPU_SEARCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZTP_KERNEL_CPU_SEARCH_INL_HPP
#undef ZTP_KERNEL_CPU_SEARCH_INL_HPP
#else
#define ZTP_KERNEL_CPU_SEARCH_INL_HPP
#endif

#include <algorithm>
#include <bit>

#include "kernel/cpu/products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {

inline constexpr std::size_t batch = 16;          // cells that go through the steps together
inline constexpr std::size_t fetch_distance = 16; // cells whose rows are asked for ahead

// Block `block` of the streams of the entries e, e + 1, ...: two numbers for each.
HWY_INLINE void batch_uniforms(const RoundKeys& keys, std::uint64_t e, std::uint32_t block, double* first,
                               double* second) {
  const U32 d32;
  alignas(64) std::uint32_t word[4][batch];
  for (std::size_t i = 0; i < batch; i += width) {
    const Words start = hn::Set(d32, static_cast<std::uint32_t>(e + i));
    const Words low = hn::Add(hn::Iota(d32, 0), start);
    // Past a multiple of 2^32 the lanes' upper words are one more.
    const Words upper = hn::Set(d32, static_cast<std::uint32_t>((e + i) >> 32));
    const Words high = hn::IfThenElse(hn::Lt(low, start), hn::Add(upper, hn::Set(d32, 1)), upper);
    Words words[4];
    random_words(keys, low, high, block, words);
    for (std::size_t w = 0; w < 4; ++w) hn::Store(words[w], d32, word[w] + i);
  }
  for (std::size_t i = 0; i < batch; ++i) {
    first[i] = to_uniform(word[0][i] | static_cast<std::uint64_t>(word[1][i]) << 32);
    second[i] = to_uniform(word[2][i] | static_cast<std::uint64_t>(word[3][i]) << 32);
  }
}

// One step for all cells of the batch before the next: their chains of dependent instructions run side by side.
class BatchSearch {
 public:
  explicit BatchSearch(const HostRates& rates) : K_(rates.u.size()), products_(rates), product_(batch, rates.R) {
    std::fill(&running_[0][0], &running_[0][0] + batch * lanes, 0.0);
  }

  std::size_t stride() const { return products_.stride(); }
  const float* product(std::size_t i) const { return product_.row(i); }
  // Puts another value in the place of a product; add_up is due when that is done.
  void replace(std::size_t i, std::size_t r, float value) { product_.row(i)[r] = value; }
  // The sum of the products of cell i.
  double total(std::size_t i) const { return running_[i][lanes - 1]; }

  // For `count` cells; of those after them `ahead` are still to come.
  HWY_INLINE void compute(const std::uint32_t* cells, std::size_t count, std::size_t ahead) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i + fetch_distance < count + ahead) products_.prefetch(cells + (i + fetch_distance) * K_);
      products_.template compute<true>(cells + i * K_, product_.row(i), sums_[i]);
    }
    run_sums(count);
  }

  // The sums of products anew.
  HWY_INLINE void add_up(std::size_t count) {
    const F32 f;
    for (std::size_t i = 0; i < count; ++i) {
      Floats sum[lanes / width];
      for (Floats& part : sum) part = hn::Zero(f);
      for (std::size_t r = 0; r < stride(); r += lanes)
        for (std::size_t l = 0; l < lanes / width; ++l)
          sum[l] = hn::Add(sum[l], hn::Load(f, product_.row(i) + r + l * width));
      for (std::size_t l = 0; l < lanes / width; ++l) hn::Store(sum[l], f, sums_[i] + l * width);
    }
    run_sums(count);
  }

  // The places of the largest products of cell i, no two of them in one lane. A place is kept in the last bits of its
  // product, which for this are as good as any: products are positive, and so in the order of their bits.
  template <std::size_t count>
  HWY_INLINE void largest(std::size_t i, std::uint32_t* places) const {
    using Lanes = hn::FixedTag<std::int32_t, width>;
    const Lanes d;
    const std::int32_t bits = static_cast<std::int32_t>(std::bit_ceil(stride()) - 1);
    hn::Vec<Lanes> most[lanes / width];
    for (auto& part : most) part = hn::Zero(d);
    for (std::size_t r = 0; r < stride(); r += lanes)
      for (std::size_t l = 0; l < lanes / width; ++l) {
        const auto value = hn::BitCast(d, hn::Load(F32(), product_.row(i) + r + l * width));
        const auto place = hn::Iota(d, static_cast<std::int32_t>(r + l * width));
        most[l] = hn::Max(most[l], hn::Or(hn::AndNot(hn::Set(d, bits), value), place));
      }
    for (std::size_t c = 0; c < count; ++c) {
      auto all = most[0];
      for (std::size_t l = 1; l < lanes / width; ++l) all = hn::Max(all, most[l]);
      all = hn::MaxOfLanes(d, all);
      places[c] = static_cast<std::uint32_t>(hn::GetLane(all) & bits);
      for (auto& part : most) part = hn::IfThenZeroElse(hn::Eq(part, all), part);
    }
  }

  // Where the running sum in search order passes `uniform` of the total: first the lane, then the place in it. Never a
  // share of zero; where rounding runs past the end, the last that is not.
  std::uint32_t find(std::size_t i, double uniform) const {
    const double target = uniform * total(i);
    const std::size_t lane = find_lane(i, target);
    const double rest = lane == 0 ? target : target - running_[i][lane - 1];
    double sum = 0;
    for (std::size_t r = lane; r < stride(); r += lanes)
      if ((sum += static_cast<double>(product_.row(i)[r])) > rest) return static_cast<std::uint32_t>(r);
    return last_of_lane(i, lane);
  }

  // The same for the whole batch, cells beyond `count` included, for which it is meaningless.
  HWY_INLINE void find_all(const double* uniform, std::uint32_t* found) const {
    const F32 f;
    const I32 i32;
    const F64 f64;
    const hn::Half<F32> half;
    alignas(64) std::int32_t start[batch];
    alignas(64) double rest[batch];
    for (std::size_t i = 0; i < batch; ++i) {
      const double target = uniform[i] * total(i);
      const std::size_t lane = find_lane(i, target);
      rest[i] = target - before_lane(i, lane);
      found[i] = static_cast<std::uint32_t>(lane);
      start[i] = static_cast<std::int32_t>(i * stride() + lane);
    }
    for (std::size_t i = 0; i < batch; i += width) {
      const auto place = hn::Load(i32, start + i);
      const Doubles rest_low = hn::Load(f64, rest + i), rest_high = hn::Load(f64, rest + i + width / 2);
      const Doubles step = hn::Set(f64, static_cast<double>(lanes));
      Doubles sum_low = hn::Zero(f64), sum_high = sum_low, passed_low = sum_low, passed_high = sum_low;
      for (std::size_t r = 0; r < stride(); r += lanes) {
        const Floats share = hn::GatherIndex(f, product_.row(0) + r, place);
        sum_low = hn::Add(sum_low, hn::PromoteTo(f64, hn::LowerHalf(half, share)));
        sum_high = hn::Add(sum_high, hn::PromoteTo(f64, hn::UpperHalf(half, share)));
        passed_low = hn::Add(passed_low, hn::IfThenElseZero(hn::Le(sum_low, rest_low), step));
        passed_high = hn::Add(passed_high, hn::IfThenElseZero(hn::Le(sum_high, rest_high), step));
      }
      alignas(64) double passed[width];
      hn::Store(passed_low, f64, passed);
      hn::Store(passed_high, f64, passed + width / 2);
      for (std::size_t l = 0; l < width; ++l) {
        const std::size_t lane = found[i + l];
        found[i + l] += static_cast<std::uint32_t>(passed[l]);
        if (HWY_UNLIKELY(found[i + l] >= stride())) found[i + l] = last_of_lane(i + l, lane);
      }
    }
  }

 private:
  HWY_INLINE void run_sums(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      double total = 0;
      for (std::size_t l = 0; l < lanes; ++l) running_[i][l] = total += static_cast<double>(sums_[i][l]);
    }
  }
  HWY_INLINE std::size_t find_lane(std::size_t i, double target) const {
    const F64 f64;
    std::size_t lane = 0;
    for (std::size_t l = 0; l < lanes; l += width / 2)
      lane += hn::CountTrue(f64, hn::Le(hn::Load(f64, running_[i] + l), hn::Set(f64, target)));
    return lane - lane / lanes;
  }
  // The sum of all lanes before this one. No branch: a draw's lane cannot be foreseen.
  HWY_INLINE double before_lane(std::size_t i, std::size_t lane) const {
    const std::uint64_t all_or_none = lane == 0 ? 0 : ~std::uint64_t{0};
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(running_[i][lane - (lane != 0)]) & all_or_none);
  }
  std::uint32_t last_of_lane(std::size_t i, std::size_t lane) const {
    std::size_t r = stride() - lanes + lane;
    while (r >= lanes && !(product_.row(i)[r] > 0)) r -= lanes;
    return static_cast<std::uint32_t>(r);
  }

  std::size_t K_;
  Products products_;
  Matrix<float> product_;
  alignas(64) float sums_[batch][lanes];
  alignas(64) double running_[batch][lanes];  // sums of sums_ up to each lane
};

}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
