#include "kernel/cpu/columns.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "kernel/cpu/gamma.hpp"
#include "kernel/cpu/place.hpp"
#include "kernel/gamma_draw.hpp"
#include "model/distributions.hpp"

namespace ztp::cpu {
namespace {

// Column sums are made over blocks of rows in a fixed order for any threads. A mode of a thousand rows has enough of
// them for many threads, one of a million not too many. A power of two: rows_per_place rows are whole blocks.
template <class T>
Blocks blocks_of(const RowArray<T>& array) {
  return {array.rows(), std::min(rows_of_sum(array.all_rows()), rows_per_place)};
}

// Rows of a mode in parts that threads can share, each a run of neighbours within a block: all rows, or a list of rows
// as it falls into runs.
std::vector<Range> runs_of(const Columns& columns) {
  std::vector<Range> runs;
  const Blocks blocks = blocks_of(columns.S);
  if (columns.rows == nullptr) {
    for (std::size_t b = 0; b < blocks.count(); ++b) runs.push_back({blocks.begin(b), blocks.end(b)});
    return runs;
  }
  for (const std::uint32_t j : *columns.rows) {
    if (runs.empty() || runs.back().end != j || j % blocks.size == 0) runs.push_back({j, j});
    ++runs.back().end;
  }
  return runs;
}

// The runs of each group of rows that has any, in order.
struct RunGroups {
  std::vector<std::size_t> group;  // of the rows of the array
  std::vector<std::size_t> begin;  // its first run; and the end
  std::size_t count() const { return group.size(); }
};

RunGroups groups_of(const std::vector<Range>& runs, std::size_t rows_of_group) {
  RunGroups groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t group = runs[i].begin / rows_of_group;
    if (!groups.group.empty() && groups.group.back() == group) continue;
    groups.group.push_back(group);
    groups.begin.push_back(i);
  }
  groups.begin.push_back(runs.size());
  return groups;
}

// Calls body(runs begin, runs end) for runs that go together, side by side: whole blocks one by one, short runs by
// groups.
template <class Body>
void for_runs(Pool& pool, const Columns& columns, const std::vector<Range>& runs, const Body& body) {
  if (columns.rows == nullptr) return pool.for_blocks(runs.size(), [&](std::size_t i) { body(i, i + 1); });
  const RunGroups groups = groups_of(runs, rows_of_sum(columns.S.all_rows()));
  pool.for_blocks(groups.count(), [&](std::size_t g) { body(groups.begin[g], groups.begin[g + 1]); });
}

Matrix<float> padded_row(const std::vector<float>& values) {
  Matrix<float> result(1, values.size());
  std::copy(values.begin(), values.end(), result.row(0));
  return result;
}

double shape_of(const Columns& columns, std::size_t j, std::size_t r) {
  return on_this_host(columns.S).visit(
      [&](const auto& S) { return columns.a + columns.scale * static_cast<double>(S.row(j)[r]); });
}

// Sums of the columns over each group of rows, after prepare(run) has been called for each of its runs. Each run is
// summed by itself, and the sums of a group's runs are added in order.
template <class Prepare>
void sum_groups(Pool& pool, const Columns& columns, const std::vector<Range>& runs, const Prepare& prepare,
                const Matrix<float>& u, RowGroupSums& result) {
  const std::size_t P = u.columns(), rows_of_group = rows_of_sum(columns.S.all_rows());
  const RunGroups groups = groups_of(runs, rows_of_group);
  result.group.clear();
  for (const std::size_t group : groups.group) result.group.push_back(columns.S.first_row() / rows_of_group + group);
  if (result.sums.rows() != groups.count() || result.sums.columns() != P)
    result.sums = Matrix<double>(groups.count(), P);
  const bool whole = columns.rows == nullptr && groups.count() < runs.size();  // several blocks a group: side by side
  Matrix<double> of_blocks(whole ? runs.size() : 0, P);
  if (whole)
    pool.for_blocks(runs.size(), [&](std::size_t i) {
      prepare(runs[i]);
      sum_rows(u, runs[i], of_blocks.row(i));
    });
  pool.for_blocks(groups.count(), [&](std::size_t g) {
    double* const sums = result.sums.row(g);
    Matrix<double> of_run(1, P);
    for (std::size_t i = groups.begin[g]; i < groups.begin[g + 1]; ++i) {
      const double* of_this = of_run.row(0);
      if (whole) {
        of_this = of_blocks.row(i);
      } else {
        prepare(runs[i]);
        sum_rows(u, runs[i], i == groups.begin[g] ? sums : of_run.row(0));
        if (i == groups.begin[g]) continue;
      }
      if (i == groups.begin[g])
        std::copy(of_this, of_this + P, sums);
      else
        for (std::size_t q = 0; q < P; ++q) sums[q] += of_this[q];
    }
  });
}

// The sums of blocks, so many of them together.
Matrix<double> in_groups(Matrix<double> of_blocks, std::size_t together) {
  if (together == 1) return of_blocks;
  Matrix<double> of_groups((of_blocks.rows() + together - 1) / together, of_blocks.columns());
  for (std::size_t b = 0; b < of_blocks.rows(); ++b)
    for (std::size_t r = 0; r < of_blocks.columns(); ++r)
      of_groups.row(b / together)[r] =
          b % together == 0 ? of_blocks.row(b)[r] : of_groups.row(b / together)[r] + of_blocks.row(b)[r];
  return of_groups;
}

// The number of drawn rows, and each of them.
std::size_t drawn_rows(const Columns& columns) {
  return columns.rows == nullptr ? columns.S.rows() : columns.rows->size();
}
std::size_t drawn_row(const Columns& columns, std::size_t i) {
  return columns.rows == nullptr ? i : (*columns.rows)[i];
}

// Column r by way of logarithms: the same draws, for shapes so small that floats do not hold them. Returns their sum.
double draw_column_in_logs(const Columns& columns, std::size_t r, const double* log_rest, const Streams& streams,
                           HostFactors& u) {
  std::vector<double> log_gamma = log_gammas(columns, r, streams, u);
  if (log_rest != nullptr) log_gamma.push_back(*log_rest);
  const double sum = normalise_logs(log_gamma, static_cast<double>(u.rows()));
  write_column(columns, r, log_gamma.data(), u);
  return sum;
}

// How far the threads are with a matrix that is drawn.
struct TaskProgress {
  std::atomic<std::size_t> left = 0;  // blocks to be drawn
  std::atomic<bool> drawn = false;    // all of them, and what they are to be scaled by is known

  void end() {
    drawn = true;
    drawn.notify_all();
  }
};
struct TaskPart {
  ColumnTask& task;
  TaskProgress& progress;
  Range rows;
  std::size_t block;
};
constexpr std::size_t rows_scaled = 1024;  // at a time

void add_up(ColumnTask& task) {
  task.sums = total_of(in_groups(std::move(task.of_blocks), rows_of_sum(task.u.all_rows()) / blocks_of(task.u).size));
  task.factor = Matrix<float>(1, task.sums.size());
  for (std::size_t q = 0; q < task.sums.size(); ++q)
    task.factor.row(0)[q] = Kernel::column_factor(task.u.rows(), task.sums[q]);
}

// The thread that draws the last block adds up what all have drawn.
void draw_and_sum(const TaskPart& part) {
  draw_gamma_rows(part.task.columns, part.task.streams, part.rows, part.task.u);
  sum_rows(part.task.u.values, part.rows, part.task.of_blocks.row(part.block));
  if (--part.progress.left > 0) return;
  add_up(part.task);
  part.progress.end();
}

}  // namespace

// The sums of each block are made while it is in cache.
void draw_gammas(Pool& pool, const Columns& columns, const Streams& streams, HostFactors& u) {
  u.summed_runs = runs_of(columns);
  sum_groups(
      pool, columns, u.summed_runs, [&](Range run) { draw_gamma_rows(columns, streams, run, u); }, u.values,
      u.sums_of_groups);
}

void sum_row_groups(Pool& pool, const Columns& columns, const HostFactors& u,
                    const std::function<void(const RowGroupSums&)>& use) {
  const std::vector<Range> runs = runs_of(columns);
  const auto same = [](const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; };
  if (u.sums_of_groups.sums.rows() > 0 &&
      std::equal(runs.begin(), runs.end(), u.summed_runs.begin(), u.summed_runs.end(), same))
    return use(u.sums_of_groups);
  RowGroupSums sums;
  sum_groups(
      pool, columns, runs, [](Range) {}, u.values, sums);
  use(sums);
}

std::vector<double> sum_columns(Pool& pool, const Columns& columns, const HostFactors& u) {
  std::vector<double> total;
  sum_row_groups(pool, columns, u, [&](const RowGroupSums& sums) { total = total_of(sums.sums); });
  return total;
}

std::vector<double> total_of(const Matrix<double>& of_groups) {
  std::vector<double> total(of_groups.columns(), 0.0);
  for (std::size_t g = 0; g < of_groups.rows(); ++g)
    for (std::size_t r = 0; r < total.size(); ++r) total[r] += of_groups.row(g)[r];
  return total;
}

void draw_together(Pool& pool, std::span<ColumnTask> tasks) {
  std::vector<TaskProgress> progress(tasks.size());
  std::vector<TaskPart> drawn, scaled;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ColumnTask& task = tasks[i];
    const Blocks blocks = blocks_of(task.u), runs{task.u.rows(), rows_scaled};
    task.of_blocks = Matrix<double>(blocks.count(), task.u.columns());
    task.u.sums_of_groups = {};
    for (std::size_t b = 0; b < blocks.count(); ++b)
      drawn.push_back({task, progress[i], {blocks.begin(b), blocks.end(b)}, b});
    for (std::size_t b = 0; b < runs.count(); ++b)
      scaled.push_back({task, progress[i], {runs.begin(b), runs.end(b)}, b});
    progress[i].left = blocks.count();
    if (blocks.count() == 0) add_up(task);
  }
  std::atomic<bool> failed = false;
  pool.for_blocks(drawn.size() + scaled.size(), [&](std::size_t i) {
    if (i >= drawn.size()) {  // blocks are begun in order: what this one waits for is all under way
      const TaskPart& part = scaled[i - drawn.size()];
      part.progress.drawn.wait(false);
      if (!failed) scale_rows(part.task.factor.row(0), part.rows, part.task.u.values);
      return;
    }
    try {
      draw_and_sum(drawn[i]);
    } catch (...) {
      failed = true;
      for (TaskProgress& of_task : progress) of_task.end();
      throw;
    }
  });
}

std::vector<double> log_gammas(const Columns& columns, std::size_t r, const Streams& streams, const Factors& u) {
  std::vector<double> logs(drawn_rows(columns));
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::size_t j = drawn_row(columns, i);
    logs[i] = log_gamma_at(streams, ((u.first_row() + j) << 32) | r, shape_of(columns, j, r));
  }
  return logs;
}

void write_column(const Columns& columns, std::size_t r, const double* values, HostFactors& u) {
  for (std::size_t i = 0; i < drawn_rows(columns); ++i)
    u.values.row(drawn_row(columns, i))[r] = static_cast<float>(values[i]);
}

std::vector<double> draw_in_logs(Pool& pool, const Columns& columns, const std::vector<std::size_t>& which,
                                 const std::vector<double>& log_rest, const Streams& streams, HostFactors& u) {
  std::vector<double> sums(which.size());
  u.sums_of_groups = {};
  pool.for_blocks(which.size(), [&](std::size_t i) {
    const double* rest = log_rest.empty() ? nullptr : &log_rest[which[i]];
    sums[i] = draw_column_in_logs(columns, which[i], rest, streams, u);
  });
  return sums;
}

std::vector<std::int64_t> sum_counts(const Columns& columns) {
  std::vector<std::int64_t> sums(columns.S.columns(), 0);
  on_this_host(columns.S).visit([&](const auto& S) {
    for (const Range& run : runs_of(columns))
      for (std::size_t j = run.begin; j < run.end; ++j)
        for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += S.row(j)[r];
  });
  return sums;
}

void scale_columns(Pool& pool, const Columns& columns, const std::vector<float>& factor, HostFactors& u) {
  const Matrix<float> padded_factor = padded_row(factor);
  const std::vector<Range> runs = runs_of(columns);
  u.sums_of_groups = {};
  for_runs(pool, columns, runs, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) scale_rows(padded_factor.row(0), runs[i], u.values);
  });
}

void mean_columns(Pool& pool, const Columns& columns, const std::vector<float>& factor, HostFactors& u) {
  const Matrix<float> padded_factor = padded_row(factor);
  const std::vector<Range> runs = runs_of(columns);
  u.sums_of_groups = {};
  for_runs(pool, columns, runs, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) mean_rows(columns, padded_factor.row(0), runs[i], u.values);
  });
}

std::vector<double> sums_of_squares(Pool& pool, const HostFactors& factors) {
  const Matrix<float>& u = factors.values;
  const Blocks blocks = blocks_of(factors);
  std::vector<double> squares(blocks.count() * u.columns(), 0.0);
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    double* sum = squares.data() + b * u.columns();
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < u.columns(); ++r)
        sum[r] += static_cast<double>(u.row(j)[r]) * static_cast<double>(u.row(j)[r]);
  });
  return squares;
}

double impute_diagonal(Pool& pool, const HostFactors& factors, const std::vector<double>& log_beta,
                       const Streams& streams, const DrawSettings& settings, HostCounts& S, std::int64_t* totals) {
  const Matrix<float>& u = factors.values;
  const std::size_t R = u.columns(), n = u.rows();
  const std::vector<double> squares = sums_of_squares(pool, factors);
  std::vector<double> mean(R, 0.0);
  for (std::size_t i = 0; i < squares.size(); ++i) mean[i % R] += squares[i];
  const double log_cells = 2 * std::log(static_cast<double>(n));
  double rate = 0;
  for (std::size_t r = 0; r < R; ++r) rate += mean[r] *= std::exp(log_beta[r] - log_cells);

  if (settings.expected) {
    std::vector<double> factor(R);
    for (std::size_t r = 0; r < R; ++r) {
      const double unit = static_cast<double>(settings.unit);
      factor[r] = 2 * unit * std::exp(log_beta[r] - log_cells);
      totals[r] += std::llround(unit * mean[r]);
    }
    spread(pool, u, {}, 2, factor, S);
    return rate;
  }
  std::vector<std::int64_t> drawn(R);
  std::vector<Stream> stream;
  for (std::size_t r = 0; r < R; ++r) {
    stream.push_back(streams.at(r));
    drawn[r] = draw_poisson(stream[r], mean[r]);
    totals[r] += drawn[r] * settings.unit;
  }
  S.make_room(2 * settings.unit * *std::max_element(drawn.begin(), drawn.end()));
  // Each component owns its column of S, so columns can be filled side by side.
  S.visit([&]<class T>(Matrix<T>& counts) {
    pool.for_blocks(R, [&](std::size_t r) {
      if (drawn[r] == 0) return;
      std::vector<double> shares(n);
      for (std::size_t j = 0; j < n; ++j)
        shares[j] = static_cast<double>(u.row(j)[r]) * static_cast<double>(u.row(j)[r]);
      draw_multinomial(stream[r], drawn[r], shares, [&](std::size_t j, std::int64_t part) {
        counts.row(j)[r] += static_cast<T>(2 * part * settings.unit);
      });
    });
  });
  return rate;
}

}  // namespace ztp::cpu
