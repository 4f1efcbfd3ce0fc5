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
// Most blocks never have more parts than there is room for from the start: sweeps do not take memory bit by bit.
constexpr std::size_t usual_parts = entries_per_block / 8;

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
  std::span<const Drawn> drawn;
  const FactorLayout& layout;
  bool fresh;
  std::int64_t unit;
};

// Adds the counts of all entries into the rows of one matrix, row by row, so that each row is in cache and, but for
// those with many entries, no one else's. If `fresh`, rows are set to zero first, each when its turn comes.
template <class T>
class RowSums {
 public:
  // columns: of each component; null: component r has column r.
  RowSums(const RowIndex& index, const Added& added, const std::uint32_t* columns, Matrix<T>& S)
      : index_(index),
        added_(added),
        component_(added.drawn.empty() ? nullptr : added.drawn.front().component),
        unit_(added.drawn.empty() ? nullptr : added.drawn.front().unit),
        columns_(columns),
        S_(S) {
    std::size_t parts = 0;
    for (const Drawn& block : added.drawn) parts += block.parts.size();
    many_parts_ = 4 * parts > index.begin[S.rows()];
    in_lanes_ = std::is_same_v<T, std::int32_t> && S.columns() <= most_columns_in_lanes && columns == nullptr &&
                added.unit == 1 && !many_parts_;
    for (const RowRun& run : index.runs)
      if (added.fresh && !run.whole) clear(run.rows);
  }

  std::size_t runs() const { return index_.runs.size(); }

  void add_run(std::size_t i) const {
    const RowRun& run = index_.runs[i];
    if (!run.whole) return add_part(run);
    if (in_lanes_) return add_in_lanes(run.rows);
    if (added_.fresh) clear(run.rows);
    for (std::size_t j = run.rows.begin; j < run.rows.end; ++j)
      add_entries(index_.begin[j], index_.begin[j + 1], S_.row(j));
  }

 private:
  void clear(Range rows) const { std::fill(S_.row(rows.begin), S_.row(rows.end), 0); }

  // Some entries of a row that other threads add to.
  void add_part(const RowRun& run) const {
    std::vector<T> sums(S_.columns(), 0);
    add_entries(run.begin, run.end, sums.data());
    for (std::size_t q = 0; q < sums.size(); ++q)
      if (sums[q] != 0) add_shared(S_.row(run.rows.begin)[q], sums[q]);
  }

  void add_in_lanes(Range rows) const {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      std::vector<std::pair<std::size_t, std::uint32_t>> left_out;
      add_rows({index_, unit_, added_.fresh, S_}, rows.begin, rows.end, left_out);
      for (const auto& [row, e] : left_out)
        if (component_[e] != nothing)
          for_each_part(added_.drawn[e / entries_per_block], e,
                        [&](std::uint32_t r, std::int64_t count) { S_.row(row)[r] += static_cast<T>(count); });
    }
  }

  void add_entries(std::uint64_t begin, std::uint64_t end, T* row) const {
    if (added_.layout.components() <= most_in_bytes && !many_parts_)
      add_components(unit_, begin, end, row);
    else
      add_components(component_, begin, end, row);
  }

  template <class Component>
  void add_components(const Component* component, std::uint64_t begin, std::uint64_t end, T* row) const {
    if (columns_ == nullptr)
      add_to_columns(component, begin, end, row, [](std::uint32_t r) { return r; });
    else
      add_to_columns(component, begin, end, row, [columns = columns_](std::uint32_t r) { return columns[r]; });
  }

  template <class Component, class Column>
  void add_to_columns(const Component* component, std::uint64_t i, std::uint64_t end, T* row,
                      const Column& column) const {
    constexpr std::uint32_t no_component = sizeof(Component) == 1 ? no_unit : several;
    constexpr std::uint64_t ahead = 24;  // components are all over memory, and asked for in time
    const T unit = static_cast<T>(added_.unit);
    const std::uint64_t fetch_end =
        index_.entry.empty() ? 0 : index_.entry.size() - std::min<std::size_t>(ahead, index_.entry.size());
    for (; i < end; ++i) {
      if (i < fetch_end) {
        __builtin_prefetch(component + index_.entry[i + ahead]);
        if (many_parts_) {
          const DrawnPart* parts = parts_of(index_.entry[i + ahead / 2]);
          __builtin_prefetch(parts);
          __builtin_prefetch(parts + 7);
        }
      }
      const std::size_t e = index_.entry.empty() ? i : index_.entry[i];
      if (component[e] < no_component) {
        row[column(component[e])] += unit;
        continue;
      }
      if (component_[e] == nothing) continue;
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
  const std::uint8_t* unit_;
  bool many_parts_ = false;  // as of counts: they are asked for in time, too
  bool in_lanes_ = false;    // so few columns that a row fits in registers
  const std::uint32_t* columns_;
  Matrix<T>& S_;
};

const std::uint32_t* columns_of(const FactorLayout& layout, std::size_t k) {
  return layout.columns_are_components() ? nullptr : layout.columns_of_mode(k).data();
}

// The counts of all entries into the rows of all matrices. Their runs go in one: threads wait for each other once.
void add_by_row(Pool& pool, const std::vector<RowIndex>& by_row, const Added& added, const CountSums& sums) {
  std::vector<std::function<void(std::size_t)>> add_run;  // of each matrix
  std::vector<std::pair<std::size_t, std::size_t>> matrix_and_run;
  for (std::size_t f = 0; f < by_row.size(); ++f) {
    std::size_t k = 0;  // a mode of it: the only one, or all its modes have the same columns
    while (added.layout.matrix(k) != f) ++k;
    on_this_host(*sums.rows[f]).visit([&]<class T>(Matrix<T>& values) {
      const RowSums<T> rows(by_row[f], added, columns_of(added.layout, k), values);
      for (std::size_t i = 0; i < rows.runs(); ++i) matrix_and_run.emplace_back(f, i);
      add_run.push_back([rows](std::size_t i) { rows.add_run(i); });
    });
  }
  pool.for_blocks(matrix_and_run.size(),
                  [&](std::size_t i) { add_run[matrix_and_run[i].first](matrix_and_run[i].second); });
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

// No row gets more of a column than all rows together.
void make_room(const Added& added, const std::vector<std::int64_t>& totals, const CountSums& sums) {
  const FactorLayout& layout = added.layout;
  for (std::size_t f = 0; added.fresh && f < layout.matrices(); ++f) on_this_host(*sums.rows[f]).forget();
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    std::vector<std::int64_t> of_column(layout.size_of_mode(k).columns, 0);
    for (std::size_t r = 0; r < totals.size(); ++r) of_column[layout.column(k, r)] += totals[r];
    on_this_host(*sums.rows[layout.matrix(k)]).make_room(*std::max_element(of_column.begin(), of_column.end()));
  }
}

// Adds to the totals, and makes room for counts that are still to be added to rows.
void add_totals(const Added& added, const CountSums& sums, bool makes_room = true) {
  const std::vector<std::int64_t> totals = totals_of(added);
  for (std::size_t r = 0; r < totals.size(); ++r) sums.totals[r] += totals[r];
  if (makes_room) make_room(added, totals, sums);
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
  std::span<Drawn> drawn;
  bool at_once = false;  // decided before any count is widened
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

GroupWork work_of(Pool& pool, EntryGroup& group, const CountTask& task, std::span<Drawn> drawn) {
  GroupWork work{group, task, drawn};
  if (task.settings.bounded && group.ones.count() > 0) work.bounds = make_bounds(pool, group.rates);
  if (group.parts != nullptr) group.parts->assign(drawn.size(), {});
  return work;
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
  if (work.task.rates.R <= most_in_bytes) fill_units(block);
  for (std::size_t e = block.begin; e < block.end && work.group.parts != nullptr; ++e)
    for_each_part(block, e, [&](std::uint32_t r, std::int64_t count) {
      (*work.group.parts)[b].push_back({static_cast<std::uint32_t>(e), r, count});
    });
  if (work.at_once) add_scattered(work.group.ones.cells, block, work.added(), work.group.sums);
}

// Adds what all blocks have drawn to the totals and, where that has not been done at once, to the rows of every matrix.
void add_up(Pool& pool, std::vector<GroupWork>& work) {
  for (GroupWork& of_group : work) add_totals(of_group.added(), of_group.group.sums, !of_group.at_once);
  for (GroupWork& of_group : work) {
    if (of_group.at_once) continue;
    const CountSums& sums = of_group.group.sums;
    if (adds_by_row(of_group.group.ones, *sums.layout))
      add_by_row(pool, of_group.group.ones.by_row, of_group.added(), sums);
    else if (of_group.task.settings.fresh)
      for (Counts* rows : sums.rows) clear(pool, on_this_host(*rows));
  }
  const auto is_left = [](const GroupWork& of_group) {
    return !of_group.at_once && !adds_by_row(of_group.group.ones, *of_group.group.sums.layout);
  };
  if (std::none_of(work.begin(), work.end(), is_left)) return;
  for_blocks_of_groups(pool, work, [&](GroupWork& of_group, std::size_t b) {
    if (is_left(of_group))
      add_scattered(of_group.group.ones.cells, of_group.drawn[b], of_group.added(), of_group.group.sums);
  });
}

}  // namespace

void Allocator::reserve(std::size_t entries) {
  const auto grow = [entries](auto& values) {
    const std::size_t before = values.size();
    values.resize(std::max(before, entries));
    std::fill(values.begin() + before, values.end(), 0u);  // memory is only there when it has been written to
  };
  grow(component_);
  grow(unit_);
}

std::size_t Allocator::bytes(std::size_t entries, const FactorLayout& layout) {
  const std::size_t of_block =
      sizeof(Drawn) + sizeof(DrawnPart) * usual_parts + sizeof(std::int64_t) * padded(layout.components());
  std::size_t sum =
      (sizeof(std::uint32_t) + sizeof(std::uint8_t)) * entries + of_block * Blocks{entries, entries_per_block}.count();
  const bool bounded = layout.components() >= least_rank_bounded;
  for (std::size_t f = 0; bounded && f < layout.matrices(); ++f)
    sum += Matrix<float>::bytes_of(layout.size(f).rows, padded(layout.components()) / components_per_block);
  return sum;
}

Components Allocator::room_for(std::size_t entries) {
  component_.resize(std::max(component_.size(), entries));
  unit_.resize(component_.size());
  return {component_.data(), unit_.data()};
}

void Allocator::make_blocks(std::size_t blocks) {
  while (drawn_.size() < blocks) drawn_.emplace_back().parts.reserve(usual_parts);
}

std::span<Drawn> Allocator::blocks_of(std::size_t count, const Components& to, std::size_t first_block) {
  const Blocks blocks{count, entries_per_block};
  const std::span<Drawn> drawn(drawn_.data() + first_block, blocks.count());
  for (std::size_t b = 0; b < drawn.size(); ++b) {
    drawn[b].begin = blocks.begin(b);
    drawn[b].end = blocks.end(b);
    drawn[b].component = to.component + blocks.begin(b);
    drawn[b].unit = to.unit + blocks.begin(b);
    drawn[b].parts.clear();
    drawn[b].log_likelihood = {};
  }
  return drawn;
}

void Allocator::allocate(std::span<EntryGroup> groups, const Streams& streams, const DrawSettings& settings) {
  std::size_t entries = 0, blocks = 0;
  for (const EntryGroup& group : groups) {
    entries += group.ones.count();
    blocks += Blocks{group.ones.count(), entries_per_block}.count();
  }
  make_blocks(blocks);
  Components to = room_for(entries);
  std::vector<GroupWork> work;
  work.reserve(groups.size());
  blocks = 0;
  for (EntryGroup& group : groups) {
    work.push_back(work_of(pool_, group, {group.ones.cells, group.rates, streams, settings},
                           blocks_of(group.ones.count(), to, blocks)));
    work.back().at_once = scatters_at_once(group.ones, settings, group.sums);
    to = {to.component + group.ones.count(), to.unit + group.ones.count()};
    blocks += work.back().drawn.size();
  }
  for_blocks_of_groups(pool_, work, [&](GroupWork& of_group, std::size_t b) { draw_and_list(of_group, b); });
  add_up(pool_, work);
  for (const GroupWork& of_group : work)
    for (const Drawn& block : of_group.drawn) of_group.group.log_likelihood.add(block.log_likelihood);
}

std::span<Drawn> Allocator::draw(EntryGroup& group, const Streams& streams, const DrawSettings& settings,
                                 const Components& to) {
  const std::size_t count = group.ones.count();
  make_blocks(Blocks{count, entries_per_block}.count());
  GroupWork work = work_of(pool_, group, {group.ones.cells, group.rates, streams, settings}, blocks_of(count, to));
  pool_.for_blocks(work.drawn.size(), [&](std::size_t b) { draw_and_list(work, b); });
  return work.drawn;
}

std::span<Drawn> Allocator::draw_at_random(const HostOnes& ones, const Streams& streams, std::size_t R,
                                           const Components& to) {
  make_blocks(Blocks{ones.count(), entries_per_block}.count());
  const std::span<Drawn> drawn = blocks_of(ones.count(), to);
  pool_.for_blocks(drawn.size(), [&](std::size_t b) {
    drawn[b].totals.assign(padded(R), 0);
    for (std::size_t e = drawn[b].begin; e < drawn[b].end; ++e) {
      const std::size_t r = streams.at(ones.cells.number(e)).below(R);
      const std::size_t first = drawn[b].begin_parts();
      // All of a count together: split up, every component would start the same.
      drawn[b].add_part(r, ones.cells.observed ? ones.cells.observed[e] : 1);
      drawn[b].end_parts(e, first);
    }
    if (R <= most_in_bytes) fill_units(drawn[b]);
  });
  return drawn;
}

void Allocator::add(const std::vector<RowIndex>& by_row, const Components& of_all, const DrawSettings& settings,
                    const CountSums& sums) {
  std::vector<Drawn> all(1);
  all[0].component = of_all.component;
  all[0].unit = of_all.unit;
  add_by_row(pool_, by_row, {all, *sums.layout, settings.fresh, settings.unit}, sums);
}

void Allocator::allocate_at_random(const HostOnes& ones, const Streams& streams, const CountSums& sums) {
  const std::span<Drawn> drawn = draw_at_random(ones, streams, sums.layout->components(), room_for(ones.count()));
  const Added added{drawn, *sums.layout, false, 1};
  add_totals(added, sums);
  if (adds_by_row(ones, *sums.layout)) return add_by_row(pool_, ones.by_row, added, sums);
  pool_.for_blocks(drawn.size(), [&](std::size_t b) { add_scattered(ones.cells, drawn[b], added, sums); });
}

}  // namespace ztp::cpu
