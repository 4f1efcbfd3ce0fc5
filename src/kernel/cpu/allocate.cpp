#include "kernel/cpu/allocate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "kernel/bounded_draw.hpp"
#include "kernel/cpu/add_rows.hpp"
#include "kernel/cpu/bounds.hpp"
#include "kernel/cpu/draw_block.hpp"
#include "kernel/cpu/score.hpp"

namespace ztp::cpu {
namespace {

constexpr std::size_t entries_per_block = 2048;

// Integer sums do not depend on their order, so threads may add to the same place in any order.
template <class T>
void add_shared(T& place, std::int64_t count) {
  std::atomic_ref(place).fetch_add(static_cast<T>(count), std::memory_order_relaxed);
}

void clear(Pool& pool, HostCounts& S) {
  S.visit([&](auto& values) {
    const Blocks blocks{values.rows(), 4096};
    pool.for_blocks(blocks.count(),
                    [&](std::size_t b) { std::fill(values.row(blocks.begin(b)), values.row(blocks.end(b)), 0); });
  });
}

// What adding up reads of the draws.
struct Added {
  const std::vector<Drawn>& drawn;
  const FactorLayout& layout;
  bool fresh;
  std::int64_t unit;
};

// Adds the counts of all entries into the rows of one matrix, row by row, so that each row is in cache and, but for
// those that reach into another block, no one else's. If `fresh`, rows are set to zero first, each when its turn comes.
template <class T>
class RowSums {
 public:
  // columns: of each component; null: component r has column r.
  RowSums(const RowIndex& index, const Added& added, const std::uint32_t* columns, Matrix<T>& S)
      : index_(index),
        added_(added),
        component_(added.drawn.empty() ? nullptr : added.drawn.front().component),
        columns_(columns),
        S_(S),
        blocks_{index.begin[S.rows()], entries_per_block} {
    std::size_t parts = 0;
    for (const Drawn& block : added.drawn) parts += block.parts.size();
    many_parts_ = 4 * parts > blocks_.total;
    in_lanes_ = std::is_same_v<T, std::int32_t> && S.columns() <= most_columns_in_lanes && columns == nullptr &&
                added.unit == 1 && !many_parts_;
    for (std::size_t b = 1; added.fresh && b < blocks_.count(); ++b) {
      const std::size_t j = row_of(blocks_.begin(b));
      if (index.begin[j] < blocks_.begin(b)) std::fill(S.row(j), S.row(j + 1), 0);
    }
  }

  // Without entries there is one block all the same: rows without any become zero.
  std::size_t blocks() const { return std::max<std::size_t>(blocks_.count(), 1); }

  void add_block(std::size_t b) const {
    const std::uint64_t* rows = index_.begin.data();
    const std::uint64_t begin = blocks_.begin(b), end = std::min(blocks_.end(b), rows[S_.rows()]);
    std::vector<T> local;
    for (std::size_t j = b == 0 ? 0 : row_of(begin); j < S_.rows() && (rows[j] < end || b + 1 == blocks()); ++j) {
      const std::uint64_t first = std::max(rows[j], begin), last = std::min(rows[j + 1], end);
      if (rows[j] >= begin && rows[j + 1] <= end) {
        if (in_lanes_) {
          j = add_in_lanes(j, end) - 1;
          continue;
        }
        if (added_.fresh) std::fill(S_.row(j), S_.row(j + 1), 0);
        add_entries(first, last, S_.row(j));
      } else {  // shared with another block
        local.assign(S_.columns(), 0);
        add_entries(first, last, local.data());
        for (std::size_t q = 0; q < local.size(); ++q)
          if (local[q] != 0) add_shared(S_.row(j)[q], local[q]);
      }
    }
  }

 private:
  // The first row that begins at this place or else the one it is in. Rows without entries belong to the block they
  // begin in.
  std::size_t row_of(std::uint64_t place) const {
    const std::uint64_t* rows = index_.begin.data();
    const std::size_t j = static_cast<std::size_t>(std::lower_bound(rows, rows + S_.rows(), place) - rows);
    return rows[j] == place ? j : j - 1;
  }

  // The rows from j on that are no other block's, all at once. Returns the row after them.
  std::size_t add_in_lanes(std::size_t j, std::uint64_t end) const {
    const std::uint64_t* rows = index_.begin.data();
    std::size_t last = j;
    while (last < S_.rows() && rows[last + 1] <= end && (rows[last] < end || end == rows[S_.rows()])) ++last;
    if constexpr (std::is_same_v<T, std::int32_t>) {
      std::vector<std::pair<std::size_t, std::uint32_t>> left_out;
      add_rows({index_, component_, added_.fresh, S_}, j, last, left_out);
      for (const auto& [row, e] : left_out)
        for_each_part(added_.drawn[e / entries_per_block], e,
                      [&](std::uint32_t r, std::int64_t count) { S_.row(row)[r] += static_cast<T>(count); });
    }
    return last;
  }

  void add_entries(std::uint64_t begin, std::uint64_t end, T* row) const {
    if (columns_ == nullptr)
      add_to_columns(begin, end, row, [](std::uint32_t r) { return r; });
    else
      add_to_columns(begin, end, row, [columns = columns_](std::uint32_t r) { return columns[r]; });
  }

  template <class Column>
  void add_to_columns(std::uint64_t i, std::uint64_t end, T* row, const Column& column) const {
    constexpr std::uint64_t ahead = 24;  // components are all over memory, and asked for in time
    const T unit = static_cast<T>(added_.unit);
    const std::uint64_t fetch_end =
        index_.entry.empty() ? 0 : index_.entry.size() - std::min<std::size_t>(ahead, index_.entry.size());
    for (; i < end; ++i) {
      if (i < fetch_end) {
        __builtin_prefetch(component_ + index_.entry[i + ahead]);
        if (many_parts_) {
          const DrawnPart* parts = parts_of(index_.entry[i + ahead / 2]);
          __builtin_prefetch(parts);
          __builtin_prefetch(parts + 7);
        }
      }
      const std::size_t e = index_.entry.empty() ? i : index_.entry[i];
      if (component_[e] < several) {
        row[column(component_[e])] += unit;
        continue;
      }
      const Drawn& block = added_.drawn[e / entries_per_block];
      for_each_part(block, e,
                    [&](std::uint32_t r, std::int64_t count) { row[column(r)] += static_cast<T>(count) * unit; });
    }
  }

  // Of an entry that has any; else some address.
  const DrawnPart* parts_of(std::size_t e) const {
    const std::uint32_t r = component_[e];
    return added_.drawn[e / entries_per_block].parts.data() + (r < several || r == nothing ? 0 : r - several);
  }

  const RowIndex& index_;
  const Added& added_;
  const std::uint32_t* component_;  // of all entries
  bool many_parts_ = false;         // as of counts: they are asked for in time, too
  bool in_lanes_ = false;           // so few columns that a row fits in registers
  const std::uint32_t* columns_;
  Matrix<T>& S_;
  Blocks blocks_;
};

const std::uint32_t* columns_of(const FactorLayout& layout, std::size_t k) {
  return layout.columns_are_components() ? nullptr : layout.columns_of_mode(k).data();
}

// The counts of all entries into the rows of all matrices. Their blocks go in one: threads wait for each other once.
void add_by_row(Pool& pool, const std::vector<RowIndex>& by_row, const Added& added, const CountSums& sums) {
  std::vector<std::function<void(std::size_t)>> add_block;  // of each matrix
  std::vector<std::pair<std::size_t, std::size_t>> matrix_and_block;
  for (std::size_t f = 0; f < by_row.size(); ++f) {
    std::size_t k = 0;  // a mode of it: the only one, or all its modes have the same columns
    while (added.layout.matrix(k) != f) ++k;
    std::size_t blocks = 0;
    on_this_host(*sums.rows[f]).visit([&]<class T>(Matrix<T>& values) {
      const RowSums<T> rows(by_row[f], added, columns_of(added.layout, k), values);
      blocks = rows.blocks();
      add_block.push_back([rows](std::size_t b) { rows.add_block(b); });
    });
    for (std::size_t b = 0; b < blocks; ++b) matrix_and_block.emplace_back(f, b);
  }
  pool.for_blocks(matrix_and_block.size(),
                  [&](std::size_t i) { add_block[matrix_and_block[i].first](matrix_and_block[i].second); });
}

// Adds the counts of a block of entries entry by entry, for entries without an index of rows. Rows are anywhere in
// memory and asked for in time; components are known, so that it is the one cache line that is needed.
void add_scattered(const HostCells& cells, const Drawn& drawn, const Added& added, const CountSums& sums) {
  constexpr std::size_t ahead = 48;
  const std::size_t K = added.layout.modes();
  for (std::size_t k = 0; k < K; ++k) {
    const std::uint32_t* columns = columns_of(added.layout, k);
    const auto column = [columns](std::size_t r) { return columns == nullptr ? r : columns[r]; };
    on_this_host(*sums.rows[added.layout.matrix(k)]).visit([&](auto& S) {
      for (std::size_t e = drawn.begin; e < drawn.end; ++e) {
        if (e + ahead < drawn.end) {
          const std::uint32_t r = drawn.component[e + ahead - drawn.begin];
          __builtin_prefetch(S.row(cells.coords[(e + ahead) * K + k]) + (r < several ? column(r) : 0), 1);
        }
        for_each_part(drawn, e, [&](std::uint32_t r, std::int64_t count) {
          add_shared(S.row(cells.coords[e * K + k])[column(r)], count * added.unit);
        });
      }
    });
  }
}

// Without an index, and where there is room for any count, a block can be added as soon as it is drawn, while it is in
// cache.
bool scatters_at_once(const HostOnes& ones, const DrawSettings& settings, const CountSums& sums) {
  return ones.by_row.empty() && !settings.fresh &&
         std::all_of(sums.rows.begin(), sums.rows.end(), [](Counts* rows) { return on_this_host(*rows).wide(); });
}

std::vector<std::int64_t> totals_of(const Added& added) {
  std::vector<std::int64_t> totals(added.layout.components(), 0);
  for (const Drawn& block : added.drawn)
    for (std::size_t r = 0; r < totals.size(); ++r) totals[r] += block.totals[r] * added.unit;
  return totals;
}

void add_totals(const Added& added, const CountSums& sums) {
  const std::vector<std::int64_t> totals = totals_of(added);
  for (std::size_t r = 0; r < totals.size(); ++r) sums.totals[r] += totals[r];
}

// No row gets more of a column than all rows together.
void make_room(const Added& added, const CountSums& sums) {
  const FactorLayout& layout = added.layout;
  const std::vector<std::int64_t> totals = totals_of(added);
  for (std::size_t f = 0; added.fresh && f < layout.matrices(); ++f) on_this_host(*sums.rows[f]).forget();
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    std::vector<std::int64_t> of_column(layout.size_of_mode(k).columns, 0);
    for (std::size_t r = 0; r < totals.size(); ++r) of_column[layout.column(k, r)] += totals[r];
    on_this_host(*sums.rows[layout.matrix(k)]).make_room(*std::max_element(of_column.begin(), of_column.end()));
  }
}

// Whether what is drawn can be added row by row. An entry of a row index does not say by which mode it belongs to the
// row: with several, their columns must be the same.
bool adds_by_row(const HostOnes& ones, const FactorLayout& layout) {
  return !ones.by_row.empty() && (layout.columns_are_components() || layout.matrices() == layout.modes());
}

// Of the entries begin..end-1, by computing all their rates: not a number, if that is not asked for.           (M10)
ExactSum log_likelihood(const CountTask& task, std::size_t begin, std::size_t end) {
  if (!task.settings.likelihood) return std::numeric_limits<double>::quiet_NaN();
  double z[entries_per_block];
  LogShares log_shares(task.rates);  // for cells whose rate itself may underflow
  score_block(task.cell(begin), end - begin, task.rates, z);
  ExactSum sum;
  for (std::size_t e = begin; e < end; ++e) {
    const double rate = z[e - begin];
    const double log_z = rate > smallest_rate ? std::log(rate) : log_shares.of(task.cell(e));
    if (task.settings.anywhere && !task.cells.missing && log_z == -std::numeric_limits<double>::infinity()) continue;
    sum.add(entry_log_likelihood(task.cells, rate, log_z, task.observed(e)));
  }
  return sum;
}

// What is drawn for a group of entries.
struct GroupWork {
  EntryGroup& group;
  CountTask task;
  std::vector<Drawn> drawn;
  bool at_once;  // decided before any count is widened
  Bounds bounds = {};

  Added added() const { return {drawn, *group.sums.layout, task.settings.fresh, task.settings.unit}; }
};

// Calls body(group, block) for all blocks of all groups. Threads wait for each other once.
template <class Body>
void for_blocks_of_groups(Pool& pool, std::vector<GroupWork>& work, const Body& body) {
  std::vector<std::pair<GroupWork*, std::size_t>> blocks;
  for (GroupWork& of_group : work)
    for (std::size_t b = 0; b < of_group.drawn.size(); ++b) blocks.emplace_back(&of_group, b);
  pool.for_blocks(blocks.size(), [&](std::size_t i) { body(*blocks[i].first, blocks[i].second); });
}

void draw_and_list(GroupWork& work, std::size_t b) {
  Drawn& block = work.drawn[b];
  block.totals.assign(padded(work.task.rates.R), 0);
  if (work.task.settings.bounded) {
    draw_block_bounded(work.task, work.bounds.rates, block);
    block.log_likelihood = log_likelihood(work.task, block.begin, block.end);
  } else {
    draw_block(work.task, block);
  }
  for (std::size_t e = block.begin; e < block.end && work.group.parts != nullptr; ++e)
    for_each_part(block, e, [&](std::uint32_t r, std::int64_t count) {
      (*work.group.parts)[b].push_back({static_cast<std::uint32_t>(e), r, count});
    });
  if (work.at_once) add_scattered(work.group.ones.cells, block, work.added(), work.group.sums);
}

// Adds what all blocks have drawn to the totals and, where that has not been done at once, to the rows of every matrix.
void add_up(Pool& pool, std::vector<GroupWork>& work) {
  for (GroupWork& of_group : work) {
    const Added added = of_group.added();
    add_totals(added, of_group.group.sums);
    if (!of_group.at_once) make_room(added, of_group.group.sums);
  }
  for (GroupWork& of_group : work) {
    if (of_group.at_once) continue;
    const CountSums& sums = of_group.group.sums;
    if (adds_by_row(of_group.group.ones, *sums.layout))
      add_by_row(pool, of_group.group.ones.by_row, of_group.added(), sums);
    else if (of_group.task.settings.fresh)
      for (Counts* rows : sums.rows) clear(pool, on_this_host(*rows));
  }
  for_blocks_of_groups(pool, work, [&](GroupWork& of_group, std::size_t b) {
    const EntryGroup& group = of_group.group;
    if (of_group.at_once || adds_by_row(group.ones, *group.sums.layout)) return;
    add_scattered(group.ones.cells, of_group.drawn[b], of_group.added(), group.sums);
  });
}

}  // namespace

void Allocator::reserve(std::size_t entries) {
  const std::size_t before = component_.size();
  component_.resize(std::max(before, entries));
  std::fill(component_.begin() + before, component_.end(), 0u);  // memory is only there when it has been written to
}

std::size_t Allocator::bytes(std::size_t entries, const FactorLayout& layout) {
  std::size_t sum = sizeof(std::uint32_t) * entries;
  const bool bounded = layout.components() >= least_rank_bounded;
  for (std::size_t f = 0; bounded && f < layout.matrices(); ++f)
    sum += Matrix<float>::bytes_of(layout.size(f).rows, padded(layout.components()) / components_per_block);
  return sum;
}

std::vector<Drawn> Allocator::blocks_of(std::size_t count, std::size_t first) {
  const Blocks blocks{count, entries_per_block};
  std::vector<Drawn> drawn(blocks.count());
  for (std::size_t b = 0; b < drawn.size(); ++b) {
    drawn[b].begin = blocks.begin(b);
    drawn[b].end = blocks.end(b);
    drawn[b].component = component_.data() + first + blocks.begin(b);
  }
  return drawn;
}

void Allocator::allocate(std::span<EntryGroup> groups, const Streams& streams, const DrawSettings& settings) {
  std::size_t entries = 0;
  for (const EntryGroup& group : groups) entries += group.ones.count();
  component_.resize(std::max(component_.size(), entries));
  std::vector<GroupWork> work;
  work.reserve(groups.size());
  entries = 0;
  for (EntryGroup& group : groups) {
    work.push_back({group,
                    {group.ones.cells, group.rates, streams, settings},
                    blocks_of(group.ones.count(), entries),
                    scatters_at_once(group.ones, settings, group.sums)});
    entries += group.ones.count();
    if (settings.bounded && group.ones.count() > 0) work.back().bounds = make_bounds(pool_, group.rates);
    if (group.parts != nullptr) group.parts->assign(work.back().drawn.size(), {});
  }
  for_blocks_of_groups(pool_, work, [&](GroupWork& of_group, std::size_t b) { draw_and_list(of_group, b); });
  add_up(pool_, work);
  for (const GroupWork& of_group : work)
    for (const Drawn& block : of_group.drawn) of_group.group.log_likelihood.add(block.log_likelihood);
}

void Allocator::allocate_at_random(const HostOnes& ones, const Streams& streams, const CountSums& sums) {
  const std::size_t R = sums.layout->components();
  component_.resize(std::max(component_.size(), ones.count()));
  std::vector<Drawn> drawn = blocks_of(ones.count());
  pool_.for_blocks(drawn.size(), [&](std::size_t b) {
    drawn[b].totals.assign(padded(R), 0);
    for (std::size_t e = drawn[b].begin; e < drawn[b].end; ++e) {
      const std::size_t r = streams.at(ones.cells.number(e)).below(R);
      const std::size_t first = drawn[b].begin_parts();
      // All of a count together: split up, every component would start the same.
      drawn[b].add_part(r, ones.cells.observed ? ones.cells.observed[e] : 1);
      drawn[b].end_parts(e, first);
    }
  });
  const Added added{drawn, *sums.layout, false, 1};
  add_totals(added, sums);
  make_room(added, sums);
  if (adds_by_row(ones, *sums.layout)) return add_by_row(pool_, ones.by_row, added, sums);
  pool_.for_blocks(drawn.size(), [&](std::size_t b) { add_scattered(ones.cells, drawn[b], added, sums); });
}

}  // namespace ztp::cpu
