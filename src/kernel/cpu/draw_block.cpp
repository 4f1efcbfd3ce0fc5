// The latent counts of a block of entries and the components they belong to, in lanes.                       (M3), (M4)
#include "kernel/cpu/draw_block.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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
        plain_(task) {}

  void run() {
    for (std::size_t e = drawn_.begin; e < end_; e += batch) draw_batch(e, std::min(batch, end_ - e));
    drawn_.log_likelihood += logarithm_of_product() + hn::GetLane(hn::SumOfLanes(F64(), sum_));
  }

 private:
  void draw_batch(std::size_t e, std::size_t count) {
    // Most entries need no more than the first two numbers of their streams.
    batch_uniforms(keys_, task_.number(e), 0, count_uniform_, component_uniform_);
    search_.compute(cell(e), count, end_ - e - count);
    for (std::size_t i = 0; i < count; ++i) {
      rate_[i] = rates_.scale * search_.total(i);
      if (!floats_hold(search_.total(i), rate_[i])) rate_[i] = 0;
    }
    std::uint32_t found[batch];
    if (!task_.cells.missing) search_.find_all(task_.cells.observed ? count_uniform_ : component_uniform_, found);
    for (std::size_t i = 0; i < count; ++i) {
      const bool surely_one = task_.cells.observed ? task_.cells.observed[e + i] == 1
                                                   : !task_.cells.missing && count_uniform_[i] <= 1 - rate_[i];
      if (rate_[i] <= 0)
        draw_in_logs(e + i);
      else if (surely_one)
        drawn_.set_unit(e + i, found[i]);
      else
        draw_count(e + i, i);
    }
    count_likelihood(e, count);
  }

  const std::uint32_t* cell(std::size_t e) const { return task_.cell(e); }

  // Anything but a sure one: a second look at the entry's own stream.
  void draw_count(std::size_t e, std::size_t i) {
    // as most missing cells
    if (task_.cells.missing && count_uniform_[i] <= 1 - rate_[i]) return drawn_.set_nothing(e);
    Stream stream = task_.stream(e);
    const std::int64_t y = draw_entry(stream, task_.cells, e, rate_[i]);
    if (y == 1) return drawn_.set_unit(e, search_.find(i, stream.uniform()));
    const std::size_t first = drawn_.begin_parts();
    split_units(stream, y, search_, i, plain_.log_shares(), e, drawn_);
    drawn_.end_parts(e, first);
  }

  void draw_in_logs(std::size_t e) {
    Stream stream = task_.stream(e);
    drawn_.log_likelihood += draw_plainly(plain_, stream, e, drawn_.begin_parts(), drawn_);
  }

  // log(exp(z) - 1) of the ones, z of the missing cells, log z^y / y! of counts.                              (M10)
  void count_likelihood(std::size_t e, std::size_t count) {
    const F64 f64;
    if (task_.cells.observed) {
      for (std::size_t i = 0; i < count; ++i)
        if (rate_[i] > 0)
          drawn_.log_likelihood +=
              entry_log_likelihood(task_.cells, rate_[i], std::log(rate_[i]), task_.cells.observed[e + i]);
      return;
    }
    for (std::size_t i = count; i < batch; ++i) rate_[i] = 0;
    for (std::size_t i = 0; i < batch; i += width / 2) {
      const Doubles z = hn::Load(f64, rate_ + i);
      if (task_.cells.missing) {
        sum_ = hn::Add(sum_, z);
        continue;
      }
      // Past 30 log(exp(z) - 1) is z up to the last bit.
      const Doubles inner = hn::Min(z, hn::Set(f64, largest_rate));
      sum_ = hn::Add(sum_, hn::Sub(z, inner));
      const Doubles one = hn::Set(f64, 1.0);
      multiply_in(hn::IfThenElse(hn::Gt(z, hn::Zero(f64)), hn::Expm1(f64, inner), one));
    }
  }

  // A logarithm of a product is cheaper than a sum of logarithms. Its exponent is kept apart, so that it stays in
  // range.
  HWY_INLINE void multiply_in(Doubles value) {
    const F64 f64;
    const U64 u64;
    const Longs bits = hn::BitCast(u64, hn::Mul(product_, value));
    exponent_ = hn::Add(exponent_, hn::Sub(hn::ShiftRight<52>(bits), hn::Set(u64, 1023)));
    product_ =
        hn::BitCast(f64, hn::Or(hn::And(bits, hn::Set(u64, 0xfffffffffffffull)), hn::Set(u64, 0x3ff0000000000000ull)));
  }
  double logarithm_of_product() const {
    alignas(64) double product[width];
    alignas(64) std::uint64_t exponent[width];
    hn::Store(product_, F64(), product);
    hn::Store(exponent_, U64(), exponent);
    double sum = 0;
    for (std::size_t l = 0; l < width / 2; ++l)
      sum += std::log(product[l]) + std::numbers::ln2 * static_cast<double>(static_cast<std::int64_t>(exponent[l]));
    return sum;
  }

  const CountTask& task_;
  const HostRates& rates_;
  RoundKeys keys_;
  std::size_t K_;
  std::size_t end_;
  Drawn& drawn_;
  BatchSearch search_;
  PlainDraw plain_;  // where entries need the slow way
  // what the likelihood is made of
  Doubles sum_ = hn::Zero(F64()), product_ = hn::Set(F64(), 1.0);
  Longs exponent_ = hn::Zero(U64());
  // of the batch
  alignas(64) double rate_[batch];  // zero: out of the range of floats
  alignas(64) double count_uniform_[batch];
  alignas(64) double component_uniform_[batch];
};

void draw(const CountTask& task, Drawn& drawn) {
  const FlushToZero flush;
  BlockDraw(task, drawn).run();
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(draw);

void draw_block(const CountTask& task, Drawn& drawn) {
  HWY_DYNAMIC_DISPATCH(draw)(task, drawn);
}

}  // namespace ztp::cpu
#endif
