#include "kernel/cpu/allocate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kernel/cpu/bounds.hpp"
#include "kernel/cpu/draw_block.hpp"
#include "kernel/cpu/score.hpp"
#include "kernel/entry_draw.hpp"

namespace ztp::cpu {
namespace {

// Fixed: sums of log-likelihoods are made in this order for any threads.
constexpr std::size_t entries_per_block = 2048;

// Integer sums do not depend on their order, so threads may add to the same place in any order.
void add_shared(std::int64_t& place, std::int64_t count) {
  std::atomic_ref(place).fetch_add(count, std::memory_order_relaxed);
}

void clear(Pool& pool, Matrix<std::int64_t>& S) {
  const Blocks blocks{S.rows(), 4096};
  pool.for_blocks(blocks.count(), [&](std::size_t b) { std::fill(S.row(blocks.begin(b)), S.row(blocks.end(b)), 0); });
}

// Adds the counts of all entries into the rows of one mode, row by row, so that each row is in cache and, but for those that reach
// into another block, no one else's. `fresh`: rows are set to zero first, each when its turn comes.
class RowSums {
 public:
  RowSums(const RowIndex& index, const std::vector<Drawn>& drawn, bool fresh, std::int64_t unit,
          Matrix<std::int64_t>& S)
      : index_(index),
        drawn_(drawn),
        component_(drawn.empty() ? nullptr : drawn.front().component),
        fresh_(fresh),
        unit_(unit),
        S_(S),
        blocks_{index.begin[S.rows()], entries_per_block} {
    for (std::size_t b = 1; fresh && b < blocks_.count(); ++b) {
      const std::size_t j = row_of(blocks_.begin(b));
      if (index.begin[j] < blocks_.begin(b)) std::fill(S.row(j), S.row(j + 1), 0);
    }
  }

  // Without entries there is one block all the same: rows without any become zero.
  std::size_t blocks() const { return std::max<std::size_t>(blocks_.count(), 1); }

  void add_block(std::size_t b) const {
    const std::uint64_t* rows = index_.begin.data();
    const std::uint64_t begin = blocks_.begin(b), end = std::min(blocks_.end(b), rows[S_.rows()]);
    std::vector<std::int64_t> local;
    for (std::size_t j = b == 0 ? 0 : row_of(begin); j < S_.rows() && (rows[j] < end || b + 1 == blocks()); ++j) {
      const std::uint64_t first = std::max(rows[j], begin), last = std::min(rows[j + 1], end);
      if (rows[j] >= begin && rows[j + 1] <= end) {
        if (fresh_) std::fill(S_.row(j), S_.row(j + 1), 0);
        add_entries(first, last, S_.row(j));
      } else {  // shared with another block
        local.assign(S_.columns(), 0);
        add_entries(first, last, local.data());
        for (std::size_t r = 0; r < local.size(); ++r)
          if (local[r] != 0) add_shared(S_.row(j)[r], local[r]);
      }
    }
  }

 private:
  // The first row that begins at this place or else the one it is in. Rows without entries belong to the block they begin in.
  std::size_t row_of(std::uint64_t place) const {
    const std::uint64_t* rows = index_.begin.data();
    const std::size_t j = static_cast<std::size_t>(std::lower_bound(rows, rows + S_.rows(), place) - rows);
    return rows[j] == place ? j : j - 1;
  }

  void add_entries(std::uint64_t i, std::uint64_t end, std::int64_t* row) const {
    constexpr std::uint64_t ahead = 24;  // components are all over memory, and asked for in time
    const std::uint64_t fetch_end =
        index_.entry.empty() ? 0 : index_.entry.size() - std::min<std::size_t>(ahead, index_.entry.size());
    for (; i < end; ++i) {
      if (i < fetch_end) __builtin_prefetch(component_ + index_.entry[i + ahead]);
      const std::size_t e = index_.entry.empty() ? i : index_.entry[i];
      if (component_[e] < several) {
        row[component_[e]] += unit_;
        continue;
      }
      const std::size_t block = e / entries_per_block;
      for_each_part(drawn_[block], e, [&](std::uint32_t r, std::int64_t count) { row[r] += count * unit_; });
    }
  }

  const RowIndex& index_;
  const std::vector<Drawn>& drawn_;
  const std::uint32_t* component_;  // of all entries
  bool fresh_;
  std::int64_t unit_;
  Matrix<std::int64_t>& S_;
  Blocks blocks_;
};

// The counts of all entries into the rows of all modes. The blocks of all modes go in one: threads wait for each other once.
void add_by_row(Pool& pool, const std::vector<RowIndex>& by_row, const std::vector<Drawn>& drawn, const Sums& sums) {
  std::vector<RowSums> modes;
  std::vector<std::pair<std::size_t, std::size_t>> mode_and_block;
  for (std::size_t m = 0; m < by_row.size(); ++m) {
    modes.emplace_back(by_row[m], drawn, sums.fresh, sums.unit, *sums.rows[m]);
    for (std::size_t b = 0; b < modes[m].blocks(); ++b) mode_and_block.emplace_back(m, b);
  }
  pool.for_blocks(mode_and_block.size(),
                  [&](std::size_t i) { modes[mode_and_block[i].first].add_block(mode_and_block[i].second); });
}

// Adds the counts of a block of entries entry by entry, for entries without an index of rows. Rows are anywhere in memory and asked for
// in time; components are known, so that it is the one cache line that is needed.
void add_scattered(const Entries& entries, const Drawn& drawn, const Sums& sums) {
  constexpr std::size_t ahead = 48;
  const std::size_t K = sums.rows.size();
  for (std::size_t k = 0; k < K; ++k) {
    Matrix<std::int64_t>& S = *sums.rows[k];
    for (std::size_t e = drawn.begin; e < drawn.end; ++e) {
      if (e + ahead < drawn.end) {
        const std::uint32_t r = drawn.component[e + ahead - drawn.begin];
        __builtin_prefetch(S.row(entries.coords[(e + ahead) * K + k]) + (r < several ? r : 0), 1);
      }
      for_each_part(drawn, e, [&](std::uint32_t r, std::int64_t count) {
        add_shared(S.row(entries.coords[e * K + k])[r], count * sums.unit);
      });
    }
  }
}

// Of the entries begin..end-1, by computing all their rates: not a number, if that is not asked for.           (M10)
double log_likelihood(const Entries& entries, const Rates& rates, std::size_t begin, std::size_t end) {
  if (!entries.likelihood) return std::numeric_limits<double>::quiet_NaN();
  double z[entries_per_block];
  LogShares log_shares(rates);  // for cells whose rate itself may underflow
  score_block(entries.coords + begin * rates.u.size(), end - begin, rates, z);
  double sum = 0;
  for (std::size_t e = begin; e < end; ++e) {
    const double rate = z[e - begin];
    const double log_z = rate > smallest_rate ? std::log(rate) : log_shares.of(entries.coords + e * rates.u.size());
    if (entries.anywhere && log_z == -std::numeric_limits<double>::infinity()) continue;
    sum += entry_log_likelihood(entries, rate, log_z, entries.observed ? entries.observed[e] : 1);
  }
  return sum;
}

}  // namespace

void Allocator::reserve(std::size_t entries) {
  const std::size_t before = component_.size();
  component_.resize(std::max(before, entries));
  std::fill(component_.begin() + before, component_.end(), 0u);  // memory is only there when it has been written to
}

double Allocator::allocate(const Entries& entries, const Rates& rates, const Streams& streams, const Sums& sums) {
  const Blocks blocks{entries.count, entries_per_block};
  Bounds bounds;
  if (entries.bounded && entries.count > 0) bounds = make_bounds(pool_, rates);
  std::vector<Drawn> drawn(blocks.count());
  component_.resize(std::max(component_.size(), entries.count));
  if (sums.parts != nullptr) sums.parts->assign(blocks.count(), {});
  for (auto* rows : sums.rows)
    if (sums.fresh && entries.by_row == nullptr) clear(pool_, *rows);
  pool_.for_blocks(blocks.count(), [&](std::size_t b) {
    const std::size_t begin = blocks.begin(b), end = blocks.end(b);
    drawn[b].begin = begin;
    drawn[b].end = end;
    drawn[b].component = component_.data() + begin;
    drawn[b].totals.assign(padded(rates.R), 0);
    if (entries.bounded) {
      draw_block_bounded(entries, rates, bounds.rates, streams, drawn[b]);
      drawn[b].log_likelihood = log_likelihood(entries, rates, begin, end);
    } else {
      draw_block(entries, rates, streams, drawn[b]);
    }
    for (std::size_t r = 0; r < rates.R; ++r)
      if (drawn[b].totals[r] != 0) add_shared(sums.totals[r], drawn[b].totals[r] * sums.unit);
    for (std::size_t e = begin; e < end && sums.parts != nullptr; ++e)
      for_each_part(drawn[b], e, [&](std::uint32_t r, std::int64_t count) {
        (*sums.parts)[b].push_back({static_cast<std::uint32_t>(e), r, count});
      });
    if (entries.by_row == nullptr) add_scattered(entries, drawn[b], sums);
  });
  if (entries.by_row != nullptr) add_by_row(pool_, *entries.by_row, drawn, sums);
  double sum = 0;
  for (const Drawn& block : drawn) sum += block.log_likelihood;
  return sum;
}

}  // namespace ztp::cpu
