// The latent counts of a block of entries and the components they belong to, in lanes.                       (M3), (M4)
#include "kernel/cpu/draw_block.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/draw_block.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/contrib/math/math-inl.h>

#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

constexpr double largest_rate = 30;  // beyond, the likelihood takes another formula
constexpr double small_rate = 0.5;   // up to here, a few terms of a series

class BlockDraw {
 public:
  BlockDraw(const CountTask& task, Drawn& drawn)
      : task_(task),
        rates_(task.rates),
        keys_(task.streams),
        K_(rates_.u.size()),
        end_(drawn.end),
        drawn_(drawn),
        search_(rates_),
        tally_(ways * search_.stride()),
        plain_(task) {
    if (task.cells.observed) units_ = std::make_unique<Units>();
  }

  void run() {
    for (std::size_t e = drawn_.begin; e < end_; e += batch) draw_batch(e, std::min(batch, end_ - e));
    for (std::size_t s = 0; s < tally_.size(); ++s) drawn_.totals[s % search_.stride()] += tally_[s];
    alignas(64) double sums[width];
    hn::Store(sum_, F64(), sums);
    for (std::size_t l = 0; l < width / 2; ++l) drawn_.log_likelihood.add(sums[l]);
  }

 private:
  // The blocks of random words that the units of a batch need, and the two numbers of each.
  struct Units {
    static constexpr std::size_t most = batch * most_searched / 2 + batch;
    alignas(64) std::uint64_t entry[most], block[most];
    alignas(64) double first[most], second[most];
  };

  void draw_batch(std::size_t e, std::size_t count) {
    // Most entries need no more than the first two numbers of their streams.
    uniforms_of_entries(keys_, task_, e, 0, count_uniform_, component_uniform_);
    search_.compute(cell(e), count, end_ - e - count);
    find_rates(count);
    alignas(64) std::uint32_t found[batch];
    if (!task_.cells.missing) search_.find_all(task_.cells.observed ? count_uniform_ : component_uniform_, found);
    if (task_.cells.observed)
      split_counts(e, count, found);
    else if (task_.cells.missing)
      draw_missing(e, count);
    else
      draw_ones(e, count, found);
    count_likelihood(e, count);
  }

  // Zero, where floats do not hold the rate; and beyond `count`.
  HWY_INLINE void find_rates(std::size_t count) {
    const F64 f64;
    for (std::size_t i = 0; i < batch; i += width / 2) {
      const Doubles sum = hn::Load(f64, search_.totals() + i);
      const Doubles rate = hn::Mul(hn::Set(f64, rates_.scale), sum);
      hn::Store(hn::IfThenElseZero(lanes_hold(sum, rate), rate), f64, rate_ + i);
    }
    for (std::size_t i = count; i < batch; ++i) rate_[i] = 0;
  }
  // As floats_hold.
  HWY_INLINE static hn::Mask<F64> lanes_hold(Doubles sum, Doubles rate) {
    const F64 f64;
    const auto held = hn::And(hn::Gt(sum, hn::Set(f64, smallest_float_rate)), hn::Lt(sum, hn::Set(f64, 1e30)));
    return hn::And(held, hn::Gt(rate, hn::Set(f64, smallest_rate)));
  }

  // Most are surely one unit. Those that are not come after, so that no branch depends on a single draw.
  HWY_INLINE void draw_ones(std::size_t e, std::size_t count, const std::uint32_t* found) {
    std::copy_n(found, count, drawn_.component + (e - drawn_.begin));
    for (std::size_t i = 0; i < count; ++i) ++tally_of(i, found[i]);
    for (std::uint32_t unsure = unsure_ones(count); unsure != 0; unsure &= unsure - 1) {
      const std::size_t i = static_cast<std::size_t>(std::countr_zero(unsure));
      --tally_of(i, found[i]);
      if (rate_[i] > 0)
        draw_count(e + i, i);
      else
        draw_in_logs(e + i);
    }
  }
  // Neighbours often have the same component: in one list, each would wait for what the one before has written.
  std::uint32_t& tally_of(std::size_t i, std::uint32_t r) { return tally_[i % ways * search_.stride() + r]; }
  // A bit for each of the first `count` whose rate is zero or whose count may be more than one.
  HWY_INLINE std::uint32_t unsure_ones(std::size_t count) const {
    const F64 f64;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < batch; i += width / 2) {
      const Doubles rate = hn::Load(f64, rate_ + i);
      const auto one = hn::Le(hn::Load(f64, count_uniform_ + i), hn::Sub(hn::Set(f64, 1.0), rate));
      std::uint8_t few[8] = {};
      hn::StoreMaskBits(f64, hn::And(one, hn::Gt(rate, hn::Zero(f64))), few);
      bits |= static_cast<std::uint32_t>(few[0]) << i;
    }
    return ~bits & ((1u << count) - 1);
  }

  void draw_missing(std::size_t e, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (rate_[i] <= 0)
        draw_in_logs(e + i);
      else if (count_uniform_[i] <= 1 - rate_[i])  // as most are
        drawn_.set_nothing(e + i);
      else
        draw_count(e + i, i);
    }
  }

  // found: where the only unit of a count of one goes.
  void split_counts(std::size_t e, std::size_t count, const std::uint32_t* found) {
    const std::int64_t* observed = task_.cells.observed + e;
    const auto searched = [&](std::size_t i) {
      return rate_[i] > 0 && observed[i] > 1 && observed[i] <= most_searched;
    };
    // The numbers of all that are searched for, first: a few of them alone would leave most lanes empty.
    std::size_t listed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t blocks = searched(i) ? static_cast<std::size_t>(observed[i] + 1) / 2 : 0;
      for (std::size_t b = 0; b < blocks; ++b, ++listed) {
        units_->entry[listed] = task_.number(e + i);
        units_->block[listed] = b;
      }
    }
    list_uniforms(keys_, units_->entry, units_->block, listed, units_->first, units_->second);
    listed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (searched(i)) {
        split_by_searches(e + i, i, static_cast<std::size_t>(observed[i]), listed);
        listed += static_cast<std::size_t>(observed[i] + 1) / 2;
      } else if (rate_[i] <= 0) {
        draw_in_logs(e + i);
      } else if (observed[i] == 1) {
        drawn_.set_unit(e + i, found[i]);
      } else {
        draw_count(e + i, i);
      }
    }
  }

  // The y units of entry e, whose numbers stand from `listed` on.                                               (M4)
  HWY_INLINE void split_by_searches(std::size_t e, std::size_t i, std::size_t y, std::size_t listed) {
    constexpr std::size_t half = width / 2;
    UnitTally& tally = plain_.tally();
    alignas(64) std::uint32_t found[width];
    const std::size_t firsts = (y + 1) / 2, seconds = y / 2;
    for (std::size_t b = 0; b < firsts; b += half) {
      search_.find_units(i, units_->first + listed + b, units_->second + listed + b, found);
      for (std::size_t l = 0; l < half; ++l) {  // lanes past the last unit count for nothing: no branch to be foreseen
        tally.add(found[l], l % UnitTally::ways, b + l < firsts);
        tally.add(found[half + l], l % UnitTally::ways, b + l < seconds);
      }
    }
    const std::size_t first = drawn_.begin_parts();
    tally.take([&](std::size_t r, std::int64_t units) { drawn_.add_part(r, units); });
    drawn_.end_parts(e, first);
  }

  const std::uint32_t* cell(std::size_t e) const { return task_.cell(e); }

  // Anything but a sure one: a second look at the entry's own stream.
  void draw_count(std::size_t e, std::size_t i) {
    Stream stream = task_.stream(e);
    const std::int64_t y = draw_entry(stream, task_.cells, e, rate_[i]);
    if (y == 1) return drawn_.set_unit(e, search_.find(i, stream.uniform()));
    const std::size_t first = drawn_.begin_parts();
    split_units(stream, y, search_, i, plain_.log_shares(), drawn_);
    drawn_.end_parts(e, first);
  }

  void draw_in_logs(std::size_t e) {
    Stream stream = task_.stream(e);
    drawn_.log_likelihood.add(draw_plainly(plain_, stream, e, drawn_.begin_parts(), drawn_));
  }

  // log(exp(z) - 1) of the ones, z of the missing cells, log z^y / y! of counts. Each is rounded (base/exact_sum.hpp),
  // so that the order of the entries does not matter.                                                           (M10)
  void count_likelihood(std::size_t e, std::size_t count) {
    const F64 f64;
    if (task_.cells.observed) return count_likelihood_of_counts(task_.cells.observed + e, count);
    const Doubles zero = hn::Zero(f64);
    for (std::size_t i = 0; i < batch; i += width / 2) {
      const Doubles z = hn::Load(f64, rate_ + i);
      if (HWY_UNLIKELY(!hn::AllTrue(f64, hn::Lt(z, hn::Set(f64, ExactSum::most_in_lanes)))))
        for (std::size_t l = i; l < i + width / 2; ++l)
          if (!(rate_[l] < ExactSum::most_in_lanes))
            drawn_.log_likelihood.add(task_.cells.missing ? rate_[l] : log_expm1(rate_[l]));
      const auto counts = hn::And(hn::Gt(z, zero), hn::Lt(z, hn::Set(f64, ExactSum::most_in_lanes)));
      const Doubles term = task_.cells.missing ? z : log_expm1_of(hn::IfThenElse(counts, z, hn::Set(f64, 0.25)));
      add_rounded(hn::IfThenElseZero(counts, term));
    }
  }
  HWY_INLINE void add_rounded(Doubles term) {
    const Doubles rounder = hn::Set(F64(), ExactSum::rounder);
    sum_ = hn::Add(sum_, hn::Sub(hn::Add(term, rounder), rounder));
  }
  // A function of each z alone, and not of those beside it: which these are depends on the part of the ones that a rank
  // has.
  HWY_INLINE static Doubles log_expm1_of(Doubles z) {
    const F64 f64;
    const auto small = hn::Le(z, hn::Set(f64, small_rate));
    // log z + log((exp(z) - 1) / z), the latter by its series: what is left out is less than 5e-10.
    const Doubles square = hn::Mul(z, z);
    Doubles series = hn::Set(f64, 1.0 / 181440);
    for (const double term : {-1.0 / 2880, 1.0 / 24}) series = hn::MulAdd(series, square, hn::Set(f64, term));
    const Doubles of_small = hn::Add(hn::Log(f64, z), hn::MulAdd(series, square, hn::Mul(z, hn::Set(f64, 0.5))));
    if (HWY_LIKELY(hn::AllTrue(f64, small))) return of_small;
    // Past 30 log(exp(z) - 1) is z up to the last bit.
    const Doubles inner = hn::Min(z, hn::Set(f64, largest_rate));
    const Doubles of_others = hn::Add(hn::Log(f64, hn::Expm1(f64, inner)), hn::Sub(z, inner));
    return hn::IfThenElse(small, of_small, of_others);
  }

  void count_likelihood_of_counts(const std::int64_t* observed, std::size_t count) {
    const F64 f64;
    alignas(64) double log_z[batch];
    for (std::size_t i = 0; i < batch; i += width / 2) {
      const Doubles z = hn::Load(f64, rate_ + i);
      hn::Store(hn::Log(f64, hn::IfThenElse(hn::Gt(z, hn::Zero(f64)), z, hn::Set(f64, 1.0))), f64, log_z + i);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!(rate_[i] > 0)) continue;
      const double y = static_cast<double>(observed[i]);
      drawn_.log_likelihood.add(y * log_z[i] -
                                (observed[i] <= most_searched ? log_factorials()[observed[i]] : log_factorial(y)));
    }
  }
  static const double* log_factorials() {
    static const std::vector<double> table = [] {
      std::vector<double> values;
      for (std::int64_t y = 0; y <= most_searched; ++y) values.push_back(log_factorial(static_cast<double>(y)));
      return values;
    }();
    return table.data();
  }

  const CountTask& task_;
  const HostRates& rates_;
  RoundKeys keys_;
  std::size_t K_;
  std::size_t end_;
  Drawn& drawn_;
  BatchSearch search_;
  static constexpr std::size_t ways = 4;
  std::vector<std::uint32_t> tally_;  // of ones: how many of each component, in `ways` parts
  PlainDraw plain_;                   // where entries need the slow way
  std::unique_ptr<Units> units_;      // of counts
  Doubles sum_ = hn::Zero(F64());     // of the log-likelihood, in lanes
  // of the batch
  alignas(64) double rate_[batch];  // zero: out of the range of floats
  alignas(64) double count_uniform_[batch];
  alignas(64) double component_uniform_[batch];
};

void draw(const CountTask& task, Drawn& drawn) {
  const FlushToZero flush;
  BlockDraw(task, drawn).run();
}

void fill(Drawn& drawn) {
  const std::size_t count = drawn.end - drawn.begin;
  const hn::Rebind<std::uint8_t, I32> bytes;
  const auto most = hn::Set(U32(), no_unit);
  std::size_t i = 0;
  for (; i + width <= count; i += width) {
    const auto component = hn::Min(hn::LoadU(U32(), drawn.component + i), most);
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(I32(), component)), bytes, drawn.unit + i);
  }
  for (; i < count; ++i)
    drawn.unit[i] = static_cast<std::uint8_t>(std::min<std::uint32_t>(drawn.component[i], no_unit));
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(draw);
HWY_EXPORT(fill);

void draw_block(const CountTask& task, Drawn& drawn) {
  HWY_DYNAMIC_DISPATCH(draw)(task, drawn);
}

void fill_units(Drawn& drawn) {
  HWY_DYNAMIC_DISPATCH(fill)(drawn);
}

}  // namespace ztp::cpu
#endif
