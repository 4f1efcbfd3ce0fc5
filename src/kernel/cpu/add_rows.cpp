// A row's counts stay in registers while its entries are added: in memory, each addition would wait for the one before
// it, for neighbours often have the same component.
#include "kernel/cpu/add_rows.hpp"

#include <algorithm>

#include "kernel/cpu/draw_block.hpp"
#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/add_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

using LeftOut = std::vector<std::pair<std::size_t, std::uint32_t>>;

// One more, where the lanes are equal.
HWY_INLINE hn::Vec<I32> count_equal(hn::Vec<I32> a, hn::Vec<I32> b, hn::Vec<I32> count) {
#if HWY_TARGET == HWY_AVX3
  return hn::IfThenElse(hn::Eq(a, b), hn::Add(count, hn::Set(I32(), 1)), count);
#else
  return hn::Sub(count, hn::VecFromMask(I32(), hn::Eq(a, b)));  // a mask is -1 where it holds
#endif
}

// For rows of up to `vectors` vectors.
template <std::size_t vectors, bool in_order>
HWY_INLINE void add(const RowsToAdd& task, std::size_t begin, std::size_t end, LeftOut& left_out) {
  const I32 d;
  constexpr std::uint64_t ahead = 24;  // units are all over memory, and asked for in time
  const std::uint8_t* HWY_RESTRICT unit = task.unit;
  const std::uint32_t* HWY_RESTRICT entry = task.index.entry.data();
  const std::uint64_t* HWY_RESTRICT first = task.index.begin.data();
  const std::uint64_t fetch_end = task.index.entry.size() - std::min<std::uint64_t>(ahead, task.index.entry.size());
  std::uint64_t i = first[begin];
  for (std::size_t j = begin; j < end; ++j) {
    std::int32_t* HWY_RESTRICT row = task.S.row(j);
    hn::Vec<I32> count[vectors];
    for (std::size_t v = 0; v < vectors; ++v) count[v] = task.fresh ? hn::Zero(d) : hn::Load(d, row + v * width);
    for (const std::uint64_t row_end = first[j + 1]; i < row_end; ++i) {
      if (!in_order && i < fetch_end) __builtin_prefetch(unit + entry[i + ahead]);
      const std::uint32_t e = in_order ? static_cast<std::uint32_t>(i) : entry[i];
      if (HWY_UNLIKELY(unit[e] == no_unit)) left_out.emplace_back(j, e);  // which is the number of no lane
      const auto r = hn::Set(d, static_cast<std::int32_t>(unit[e]));
      for (std::size_t v = 0; v < vectors; ++v)
        count[v] = count_equal(hn::Iota(d, static_cast<std::int32_t>(v * width)), r, count[v]);
    }
    for (std::size_t v = 0; v < vectors; ++v) hn::Store(count[v], d, row + v * width);
  }
}

template <std::size_t vectors>
void add_vectors(const RowsToAdd& task, std::size_t begin, std::size_t end, LeftOut& left_out) {
  if constexpr (vectors > 1)
    if (task.S.columns() <= (vectors - 1) * width) return add_vectors<vectors - 1>(task, begin, end, left_out);
  if (task.index.entry.empty())
    add<vectors, true>(task, begin, end, left_out);
  else
    add<vectors, false>(task, begin, end, left_out);
}

void add_all(const RowsToAdd& task, std::size_t begin, std::size_t end, LeftOut& left_out) {
  add_vectors<most_columns_in_lanes / width>(task, begin, end, left_out);
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(add_all);

void add_rows(const RowsToAdd& task, std::size_t begin, std::size_t end,
              std::vector<std::pair<std::size_t, std::uint32_t>>& left_out) {
  HWY_DYNAMIC_DISPATCH(add_all)(task, begin, end, left_out);
}

}  // namespace ztp::cpu
#endif
