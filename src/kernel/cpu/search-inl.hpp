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

inline constexpr std::size_t batch = 16;  // cells that go through the steps together

// The two numbers of a block of words, as Stream reads them.
HWY_INLINE void to_uniforms(const Longs words[4], Doubles& first, Doubles& second) {
  const U64 d;
  const U32 d32;
  const F64 f64;
  const auto uniform = [&](Longs low, Longs high) HWY_ATTR {
    const Longs bits = hn::BitCast(d, hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(high)), hn::BitCast(d32, low)));
    // 2^52 + the upper 52 bits
    const Longs number = hn::Or(hn::ShiftRight<12>(bits), hn::Set(d, 0x4330000000000000ull));
    return hn::Mul(hn::Sub(hn::BitCast(f64, number), hn::Set(f64, 0x1p52 - 0.5)), hn::Set(f64, 0x1p-52));
  };
  first = uniform(words[0], words[1]);
  second = uniform(words[2], words[3]);
}

// The two numbers of the blocks with these counters.
template <std::size_t together>
HWY_INLINE void store_uniforms(const RoundKeys& keys, Longs x[together][4], double* first, double* second) {
  philox<together>(keys, x);
  for (std::size_t v = 0; v < together; ++v) {
    Doubles one, two;
    to_uniforms(x[v], one, two);
    hn::Store(one, F64(), first + v * width / 2);
    hn::Store(two, F64(), second + v * width / 2);
  }
}

// Block block[i] of the stream of entry[i]: two numbers for each of `count`. The lists have room for `batch` more.
HWY_INLINE void list_uniforms(const RoundKeys& keys, const std::uint64_t* entry, const std::uint64_t* block,
                              std::size_t count, double* first, double* second) {
  constexpr std::size_t half = width / 2, together = batch / half < 4 ? batch / half : 4;
  const U64 d;
  for (std::size_t i = 0; i < count; i += together * half) {
    Longs x[together][4];
    for (std::size_t v = 0; v < together; ++v) {
      x[v][0] = hn::Load(d, entry + i + v * half);
      x[v][1] = hn::ShiftRight<32>(x[v][0]);
      x[v][2] = hn::Set(d, keys.sweep);
      x[v][3] = hn::Load(d, block + i + v * half);
    }
    store_uniforms<together>(keys, x, first + i, second + i);
  }
}

// Block `block` of the streams of the entries e, e + 1, ...: two numbers for each.
HWY_INLINE void batch_uniforms(const RoundKeys& keys, std::uint64_t e, std::uint32_t block, double* first,
                               double* second) {
  constexpr std::size_t half = width / 2, together = batch / half < 4 ? batch / half : 4;
  const U64 d;
  for (std::size_t i = 0; i < batch; i += together * half) {
    Longs x[together][4];
    for (std::size_t v = 0; v < together; ++v) {
      x[v][0] = hn::Iota(d, e + i + v * half);
      x[v][1] = hn::ShiftRight<32>(x[v][0]);
      x[v][2] = hn::Set(d, keys.sweep);
      x[v][3] = hn::Set(d, block);
    }
    store_uniforms<together>(keys, x, first + i, second + i);
  }
}

// The same for a batch of entries by their numbers, which need not follow each other.
HWY_INLINE void uniforms_of_entries(const RoundKeys& keys, const CountTask& task, std::size_t e, std::uint32_t block,
                                    double* first, double* second) {
  if (task.cells.numbers == nullptr) return batch_uniforms(keys, task.number(e), block, first, second);
  alignas(64) std::uint64_t entry[batch], blocks[batch];
  const std::size_t count = std::min(batch, task.cells.count - e);
  for (std::size_t i = 0; i < batch; ++i) {
    entry[i] = task.cells.numbers[e + std::min(i, count - 1)];
    blocks[i] = block;
  }
  list_uniforms(keys, entry, blocks, batch, first, second);
}

// One step for all cells of the batch before the next: their chains of dependent instructions run side by side.
class BatchSearch {
 public:
  explicit BatchSearch(const HostRates& rates) : K_(rates.u.size()), products_(rates), product_(batch, rates.R) {
    std::fill(&sums_[0][0], &sums_[0][0] + batch * lanes, 0.0f);
    std::fill(&running_[0][0], &running_[0][0] + batch * lanes, 0.0);
  }

  std::size_t stride() const { return products_.stride(); }
  const float* product(std::size_t i) const { return product_.row(i); }
  // Puts another value in the place of a product; add_up is due when that is done.
  void replace(std::size_t i, std::size_t r, float value) { product_.row(i)[r] = value; }
  // The sum of the products of cell i.
  double total(std::size_t i) const { return running_[lanes - 1][i]; }
  const double* totals() const { return running_[lanes - 1]; }

  // For `count` cells; of those after them `ahead` are still to come.
  HWY_INLINE void compute(const std::uint32_t* cells, std::size_t count, std::size_t ahead) {
    if (products_.few()) {
      products_.compute_few(cells, count, std::min(count, count + ahead - std::min(count + ahead, fetch_distance)),
                            product_.row(0), sums_[0]);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        if (i + fetch_distance < count + ahead) products_.prefetch(cells + (i + fetch_distance) * K_);
        products_.template compute<true>(cells + i * K_, product_.row(i), sums_[i]);
      }
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
    const double rest = lane == 0 ? target : target - running_[lane - 1][i];
    double sum = 0;
    for (std::size_t r = lane; r < stride(); r += lanes)
      if ((sum += static_cast<double>(product_.row(i)[r])) > rest) return static_cast<std::uint32_t>(r);
    return last_of_lane(i, lane);
  }

  // The same for the whole batch, cells beyond `count` included, for which it is meaningless.
  HWY_INLINE void find_all(const double* uniform, std::uint32_t* found) const {
    const F64 f64;
    for (std::size_t i = 0; i < batch; i += width) {
      const auto sums = [&](std::size_t l, std::size_t h)
                            HWY_ATTR { return hn::Load(f64, running_[l] + i + h * width / 2); };
      Doubles target[2];
      for (const std::size_t h : {0, 1})
        target[h] = hn::Mul(hn::Load(f64, uniform + i + h * width / 2), sums(lanes - 1, h));
      const auto row = hn::Iota(I32(), static_cast<std::int32_t>(i));
      if (HWY_UNLIKELY(find_lanes(target, sums, row, found + i)))
        for (std::size_t l = i; l < i + width; ++l) stay_inside(l, found[l]);
    }
  }

  // The same for `width` units of cell i, half of them by numbers of one list and half by those of another.
  HWY_INLINE void find_units(std::size_t i, const double* first, const double* second, std::uint32_t* found) const {
    const F64 f64;
    const auto sums = [&](std::size_t l, std::size_t) HWY_ATTR { return hn::Set(f64, running_[l][i]); };
    const Doubles all = sums(lanes - 1, 0);
    const Doubles target[2] = {hn::Mul(hn::LoadU(f64, first), all), hn::Mul(hn::LoadU(f64, second), all)};
    if (HWY_UNLIKELY(find_lanes(target, sums, hn::Set(I32(), static_cast<std::int32_t>(i)), found)))
      for (std::size_t l = 0; l < width; ++l) stay_inside(i, found[l]);
  }

 private:
  // One search in each lane, among the products of cell `row`. sums(l, h): the running sums up to lane l of those in
  // the lower half of the lanes (h = 0) and in the upper. Returns whether a place may be past the end.
  template <class Sums>
  HWY_INLINE bool find_lanes(const Doubles target[2], const Sums& sums, hn::Vec<I32> row, std::uint32_t* found) const {
    static_assert(lanes == 16);
    const F32 f;
    const I32 i32;
    const F64 f64;
    const hn::Half<F32> half;
    const hn::Half<I32> half_of_places;
    const auto joined = [&](const Doubles values[2]) HWY_ATTR {
      return hn::Combine(i32, hn::DemoteTo(half_of_places, values[1]), hn::DemoteTo(half_of_places, values[0]));
    };
    const Doubles one = hn::Set(f64, 1.0);
    Doubles rest[2], sum[2], lane[2], passed[2];
    for (const std::size_t h : {0, 1}) {
      // Among four groups of four lanes first, and then in the group.
      Doubles before = hn::Zero(f64), in_group[3] = {sums(0, h), sums(1, h), sums(2, h)};
      lane[h] = sum[h] = passed[h] = before;
      for (std::size_t l = 3; l + 1 < lanes; l += 4) {
        const Doubles up_to = sums(l, h);
        const auto held = hn::Le(up_to, target[h]);
        before = hn::IfThenElse(held, up_to, before);
        lane[h] = hn::IfThenElse(held, hn::Set(f64, static_cast<double>(l + 1)), lane[h]);
        for (std::size_t i = 0; i < 3; ++i) in_group[i] = hn::IfThenElse(held, sums(l + 1 + i, h), in_group[i]);
      }
      for (const Doubles up_to : in_group) {
        const auto held = hn::Le(up_to, target[h]);
        before = hn::IfThenElse(held, up_to, before);
        lane[h] = hn::IfThenElse(held, hn::Add(lane[h], one), lane[h]);
      }
      rest[h] = hn::Sub(target[h], before);
    }
    const auto stride_of_rows = hn::Set(i32, static_cast<std::int32_t>(stride()));
    const auto start = joined(lane);
    const auto place = hn::Add(hn::Mul(row, stride_of_rows), start);
    for (std::size_t r = 0; r < stride(); r += lanes) {
      const Floats share = hn::GatherIndex(f, product_.row(0) + r, place);
      sum[0] = hn::Add(sum[0], hn::PromoteTo(f64, hn::LowerHalf(half, share)));
      sum[1] = hn::Add(sum[1], hn::PromoteTo(f64, hn::UpperHalf(half, share)));
      for (const std::size_t h : {0, 1})
        passed[h] = hn::IfThenElse(hn::Le(sum[h], rest[h]), hn::Add(passed[h], one), passed[h]);
    }
    const auto component = hn::Add(start, hn::ShiftLeft<4>(joined(passed)));
    hn::Store(hn::BitCast(U32(), component), U32(), found);
    return !hn::AllTrue(i32, hn::Lt(component, stride_of_rows));
  }
  void stay_inside(std::size_t i, std::uint32_t& r) const {
    if (r >= stride()) r = last_of_lane(i, r % lanes);
  }
  // Of all cells side by side: the sums of four of their lanes at a time, turned over.
  HWY_INLINE void run_sums(std::size_t count) {
    const F64 f64;
    const hn::Half<F32> half;
    for (std::size_t i = 0; i < count; i += width) {
      Doubles low = hn::Zero(f64), high = low;
      for (std::size_t l = 0; l < lanes; l += 4) {
        Floats of_lane[4];
        turn_over(sums_[i] + l, of_lane);
        for (std::size_t t = 0; t < 4; ++t) {
          low = hn::Add(low, hn::PromoteTo(f64, hn::LowerHalf(half, of_lane[t])));
          high = hn::Add(high, hn::PromoteTo(f64, hn::UpperHalf(half, of_lane[t])));
          hn::Store(low, f64, running_[l + t] + i);
          hn::Store(high, f64, running_[l + t] + i + width / 2);
        }
      }
    }
  }
  // Four floats from each of `width` cells: the first of all of them, the second, ....
  HWY_INLINE static void turn_over(const float* from, Floats to[4]) {
    const F32 f;
    Floats cell[4];  // and every fourth after it
    for (std::size_t c = 0; c < 4; ++c) cell[c] = load_fours(f, from + c * lanes);
    const Floats a = hn::InterleaveLower(f, cell[0], cell[2]), b = hn::InterleaveLower(f, cell[1], cell[3]);
    const Floats c = hn::InterleaveUpper(f, cell[0], cell[2]), d = hn::InterleaveUpper(f, cell[1], cell[3]);
    to[0] = hn::InterleaveLower(f, a, b);
    to[1] = hn::InterleaveUpper(f, a, b);
    to[2] = hn::InterleaveLower(f, c, d);
    to[3] = hn::InterleaveUpper(f, c, d);
  }
  // Four floats from each of the cells 0, 4, 8, ....
  template <class D>
  HWY_INLINE static hn::Vec<D> load_fours(D d, const float* from) {
    if constexpr (hn::MaxLanes(D()) <= 4) {
      return hn::Load(d, from);
    } else {
      const hn::Half<D> half;
      return hn::Combine(d, load_fours(half, from + hn::MaxLanes(half) * lanes), load_fours(half, from));
    }
  }
  std::size_t find_lane(std::size_t i, double target) const {
    std::size_t lane = 0;
    for (std::size_t l = 0; l + 1 < lanes; ++l) lane += running_[l][i] <= target;
    return lane;
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
  alignas(64) double running_[lanes][batch];  // sums of sums_ up to each lane
};

}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
