#include "kernel/cpu/expect.hpp"

#include <algorithm>
#include <cmath>

#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/expect.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

// product times factor, to the nearest whole number: small enough for 2^52 to round it, which takes an addition.
HWY_INLINE void to_units(const float* product, std::size_t stride, double factor, std::int64_t* units) {
  const F64 f64;
  const I64 i64;
  const hn::Half<F32> half;
  const Doubles magic = hn::Set(f64, 0x1.8p52), scale = hn::Set(f64, factor);
  for (std::size_t r = 0; r < stride; r += width / 2) {
    const Doubles value = hn::Mul(hn::PromoteTo(f64, hn::Load(half, product + r)), scale);
    hn::Store(hn::Sub(hn::BitCast(i64, hn::Add(value, magic)), hn::BitCast(i64, magic)), i64, units + r);
  }
}

HWY_INLINE void add_units(const std::int64_t* units, std::size_t stride, std::int64_t* row) {
  const I64 i64;
  for (std::size_t r = 0; r < stride; r += width / 2)
    hn::Store(hn::Add(hn::Load(i64, row + r), hn::Load(i64, units + r)), i64, row + r);
}

// Adds the units of an entry to a row, each to the column of its component.
void scatter_units(const std::int64_t* units, std::span<const std::uint32_t> columns, std::int64_t* row) {
  for (std::size_t r = 0; r < columns.size(); ++r) row[columns[r]] += units[r];
}

// Of the entries in `block`. totals: of this block alone, padded.
ExactSum expect_entries(const CountTask& task, Range block, const CountSums& sums, std::int64_t* totals,
                        RowLocks& locks) {
  const FlushToZero flush;
  const HostRates& rates = task.rates;
  const FactorLayout& layout = *sums.layout;
  std::vector<Matrix<std::int64_t>*> rows;  // of each mode
  for (std::size_t k = 0; k < layout.modes(); ++k)
    rows.push_back(&on_this_host(*sums.rows[layout.matrix(k)]).values64());
  const double unit = static_cast<double>(task.settings.unit);
  const std::size_t K = rates.u.size(), stride = padded(rates.R);
  Products products(rates);
  Matrix<float> product(1, rates.R);
  Matrix<std::int64_t> units(1, rates.R);
  alignas(64) float sum_of_lane[lanes];
  PlainDraw plain(task);
  ExactSum log_likelihood;
  for (std::size_t e = block.begin; e < block.end; ++e) {
    const std::uint32_t* cell = task.cell(e);
    if (e + 8 < block.end) products.prefetch(cell + 8 * K);
    products.compute<true>(cell, product.row(0), sum_of_lane);
    double sum = 0;
    for (const float value : sum_of_lane) sum += static_cast<double>(value);
    const double z = rates.scale * sum;
    const std::int64_t y = task.observed(e);
    const double count = expected_count(task.cells, z, y) * unit;
    if (floats_hold(sum, z) && count < 0x1p50) {
      to_units(product.row(0), stride, count / sum, units.row(0));
      log_likelihood.add(entry_log_likelihood(task.cells, z, std::log(z), y));
    } else {
      log_likelihood.add(
          plain.expect(e, [&](std::size_t r, double mean) { units.row(0)[r] = std::llround(mean * unit); }));
    }
    add_units(units.row(0), stride, totals);
    for (std::size_t k = 0; k < K; ++k) {
      std::int64_t* row = rows[k]->row(cell[k]);  // of an edge, both ends are rows of one matrix
      std::atomic_flag& lock = locks.of(row);
      while (lock.test_and_set(std::memory_order_acquire)) {
      }
      if (layout.columns_are_components())
        add_units(units.row(0), stride, row);
      else
        scatter_units(units.row(0), layout.columns_of_mode(k), row);
      lock.clear(std::memory_order_release);
    }
  }
  return log_likelihood;
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(expect_entries);

// Every component of every row of an entry gets its part. Whole numbers: threads may add them in any order, one at a
// time for each row.
ExactSum expect(Pool& pool, const CountTask& task, const CountSums& sums) {
  constexpr std::size_t entries_per_block = 2048;
  static RowLocks locks;
  for (Counts* rows : sums.rows) {
    on_this_host(*rows).widen();
    if (task.settings.fresh) rows->clear();
  }
  const Blocks blocks{task.cells.count, entries_per_block};
  Matrix<std::int64_t> totals(blocks.count(), task.rates.R);
  std::vector<ExactSum> log_likelihood(blocks.count());
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    log_likelihood[b] =
        HWY_DYNAMIC_DISPATCH(expect_entries)(task, {blocks.begin(b), blocks.end(b)}, sums, totals.row(b), locks);
  });
  ExactSum sum;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    sum.add(log_likelihood[b]);
    for (std::size_t r = 0; r < task.rates.R; ++r) sums.totals[r] += totals.row(b)[r];
  }
  return sum;
}

}  // namespace ztp::cpu
#endif
