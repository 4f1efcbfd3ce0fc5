#include "kernel/cpu/columns.hpp"

#include <algorithm>
#include <cmath>

#include "kernel/cpu/gamma.hpp"
#include "kernel/cpu/place.hpp"
#include "kernel/gamma_draw.hpp"
#include "model/distributions.hpp"

namespace ztp::cpu {
namespace {

// Column sums are made over blocks of rows in a fixed order for any threads. A mode of a thousand rows has enough of them for many
// threads, one of a million not too many.
Blocks blocks_of(std::size_t rows) {
  return {rows, std::clamp<std::size_t>(rows / 128, 16, 256)};
}

// Below this the sum of a column of floats may have lost the draws that make it up.
constexpr double smallest_sum = 1e-20;

// Rows of a mode in parts that threads can share, each a run of neighbours of which at most a block's worth goes together: all rows in
// blocks, or a list of rows as it falls into runs.
std::vector<Range> runs_of(const Columns& columns) {
  std::vector<Range> runs;
  const Blocks blocks = blocks_of(columns.S.rows());
  if (columns.rows == nullptr) {
    for (std::size_t b = 0; b < blocks.count(); ++b) runs.push_back({blocks.begin(b), blocks.end(b)});
    return runs;
  }
  for (const std::uint32_t j : *columns.rows) {
    if (runs.empty() || runs.back().end != j || runs.back().end - runs.back().begin == blocks.size)
      runs.push_back({j, j});
    ++runs.back().end;
  }
  return runs;
}

// Calls body(b, runs begin, runs end) for blocks of runs, side by side. Their number does not depend on the threads.
template <class Body>
void for_runs(Pool& pool, const std::vector<Range>& runs, std::size_t together, const Body& body) {
  const Blocks blocks{runs.size(), together};
  pool.for_blocks(blocks.count(), [&](std::size_t b) { body(b, blocks.begin(b), blocks.end(b)); });
}

std::size_t together_of(const Columns& columns) {
  return columns.rows == nullptr ? 1 : 256;
}

// What the rows that are not listed have of column r, as one gamma draw: the sum of theirs. Its stream is that of a row after the last.
// (M27)
double log_gamma_of_rest(const Columns& columns, std::size_t r, const Streams& streams) {
  const std::size_t n = columns.S.rows();
  double shape = (*columns.totals)[r];
  for (const std::uint32_t j : *columns.rows) shape -= columns.scale * static_cast<double>(columns.S.row(j)[r]);
  shape = std::max(shape, 0.0) + columns.a * static_cast<double>(n - columns.rows->size());
  return log_gamma_at(streams, (static_cast<std::uint64_t>(n) << 32) | r, shape);
}

bool has_rest(const Columns& columns) {
  return columns.rows != nullptr && columns.rows->size() < columns.S.rows();
}

// Column r by way of logarithms: the same draws, for shapes so small that floats do not hold them. Returns their sum.
double draw_column_in_logs(const Columns& columns, std::size_t r, const Streams& streams, Matrix<float>& u) {
  const std::size_t n = columns.S.rows(), rows = columns.rows == nullptr ? n : columns.rows->size();
  const auto row = [&](std::size_t i) { return columns.rows == nullptr ? i : (*columns.rows)[i]; };
  std::vector<double> log_gamma(rows);
  for (std::size_t i = 0; i < rows; ++i)
    log_gamma[i] = log_gamma_at(streams, (static_cast<std::uint64_t>(row(i)) << 32) | r,
                                columns.a + columns.scale * static_cast<double>(columns.S.row(row(i))[r]));
  if (has_rest(columns)) log_gamma.push_back(log_gamma_of_rest(columns, r, streams));
  const double sum = normalise_logs(log_gamma, static_cast<double>(n));
  for (std::size_t i = 0; i < rows; ++i) u.row(row(i))[r] = static_cast<float>(log_gamma[i]);
  return sum;
}

// Reads S, writes u; the sums of the columns.
std::vector<double> draw_runs(Pool& pool, const Columns& columns, const std::vector<Range>& runs,
                              const Streams& streams, Matrix<float>& u) {
  const std::size_t R = u.columns(), together = together_of(columns);
  Matrix<double> sums((runs.size() + together - 1) / together, R);
  for_runs(pool, runs, together, [&](std::size_t b, std::size_t begin, std::size_t end) {
    Matrix<double> of_run(1, R);
    for (std::size_t i = begin; i < end; ++i) {
      draw_gamma_rows(columns, streams, runs[i], u, of_run.row(0));
      for (std::size_t r = 0; r < R; ++r) sums.row(b)[r] += of_run.row(0)[r];
    }
  });
  std::vector<double> total(R, 0.0);
  for (std::size_t b = 0; b < sums.rows(); ++b)
    for (std::size_t r = 0; r < R; ++r) total[r] += sums.row(b)[r];
  return total;
}

}  // namespace

void draw_gammas(Pool& pool, const Columns& columns, const Streams& streams, Matrix<float>& u) {
  draw_runs(pool, columns, runs_of(columns), streams, u);
}

std::vector<double> draw_columns(Pool& pool, const Columns& columns, const Streams& streams, Matrix<float>& u) {
  const std::size_t R = u.columns();
  if (columns.a < smallest_float_shape) {
    std::vector<double> total(R);
    pool.for_blocks(R, [&](std::size_t r) { total[r] = draw_column_in_logs(columns, r, streams, u); });
    return total;
  }
  const std::vector<Range> runs = runs_of(columns);
  std::vector<double> total = draw_runs(pool, columns, runs, streams, u);
  if (has_rest(columns))
    for (std::size_t r = 0; r < R; ++r) total[r] += std::exp(log_gamma_of_rest(columns, r, streams));
  Matrix<float> factor(1, R);
  for (std::size_t r = 0; r < R; ++r) {
    if (total[r] < smallest_sum) continue;
    factor.row(0)[r] = std::isfinite(total[r]) ? static_cast<float>(static_cast<double>(u.rows()) / total[r]) : 1.0f;
  }
  for_runs(pool, runs, together_of(columns), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) scale_rows(factor.row(0), runs[i], u);
  });
  for (std::size_t r = 0; r < R; ++r)
    if (total[r] < smallest_sum) total[r] = draw_column_in_logs(columns, r, streams, u);
  return total;
}

void mean_columns(Pool& pool, const Columns& columns, Matrix<float>& u) {
  const double n = static_cast<double>(u.rows());
  Matrix<float> factor(1, u.columns());
  for (std::size_t r = 0; r < u.columns(); ++r)
    factor.row(0)[r] = static_cast<float>(n / (n * columns.a + (*columns.totals)[r]));
  const std::vector<Range> runs = runs_of(columns);
  for_runs(pool, runs, together_of(columns), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) mean_rows(columns, factor.row(0), runs[i], u);
  });
}

double impute_diagonal(Pool& pool, const Matrix<float>& u, const std::vector<double>& log_beta, const Streams& streams,
                       const Sums& sums) {
  const std::size_t R = u.columns(), n = u.rows();
  const Blocks blocks = blocks_of(n);
  Matrix<double> squares(blocks.count(), R);
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    double* sum = squares.row(b);
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < R; ++r) sum[r] += static_cast<double>(u.row(j)[r]) * static_cast<double>(u.row(j)[r]);
  });
  std::vector<double> mean(R, 0.0);
  for (std::size_t b = 0; b < blocks.count(); ++b)
    for (std::size_t r = 0; r < R; ++r) mean[r] += squares.row(b)[r];
  const double log_cells = 2 * std::log(static_cast<double>(n));
  double rate = 0;
  for (std::size_t r = 0; r < R; ++r) rate += mean[r] *= std::exp(log_beta[r] - log_cells);

  Matrix<std::int64_t>& S = *sums.rows[0];
  if (sums.expected) {
    std::vector<double> factor(R);
    for (std::size_t r = 0; r < R; ++r) {
      const double unit = static_cast<double>(sums.unit);
      factor[r] = 2 * unit * std::exp(log_beta[r] - log_cells);
      sums.totals[r] += std::llround(unit * mean[r]);
    }
    spread(pool, u, {}, 2, factor, S);
    return rate;
  }
  // Each component owns its column of S, so columns can be filled side by side.
  pool.for_blocks(R, [&](std::size_t r) {
    Stream stream = streams.at(r);
    const std::int64_t total = draw_poisson(stream, mean[r]);
    if (total == 0) return;
    std::vector<double> shares(n);
    for (std::size_t j = 0; j < n; ++j) shares[j] = static_cast<double>(u.row(j)[r]) * static_cast<double>(u.row(j)[r]);
    draw_multinomial(stream, total, shares,
                     [&](std::size_t j, std::int64_t part) { S.row(j)[r] += 2 * part * sums.unit; });
    sums.totals[r] += total * sums.unit;
  });
  return rate;
}

}  // namespace ztp::cpu
