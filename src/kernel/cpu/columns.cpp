#include "kernel/cpu/columns.hpp"

#include <algorithm>
#include <cmath>

#include "kernel/cpu/gamma.hpp"
#include "kernel/gamma_draw.hpp"
#include "model/draws.hpp"

namespace ztp::cpu {
namespace {

// Column sums are made over blocks of rows in a fixed order for any threads. A mode of a thousand rows has enough of them for many
// threads, one of a million not too many.
Blocks blocks_of(std::size_t rows) {
  return {rows, std::clamp<std::size_t>(rows / 128, 16, 256)};
}

// Below this the sum of a column of floats may have lost the draws that make it up.
constexpr double smallest_sum = 1e-20;

// Column r by way of logarithms: the same draws, for shapes so small that floats do not hold them.
void draw_column_in_logs(const Matrix<std::int64_t>& S, std::size_t r, double a, StreamKey key, std::uint32_t sweep,
                         Matrix<float>& u) {
  const std::size_t n = S.rows();
  std::vector<double> log_gamma(n);
  for (std::size_t j = 0; j < n; ++j)
    log_gamma[j] =
        log_gamma_at(key, sweep, (static_cast<std::uint64_t>(j) << 32) | r, a + static_cast<double>(S.row(j)[r]));
  // The largest becomes one, so that no column is all zero.
  const double largest = *std::max_element(log_gamma.begin(), log_gamma.end());
  double sum = 0;
  for (double& value : log_gamma) sum += value = std::exp(value - largest);
  for (std::size_t j = 0; j < n; ++j) u.row(j)[r] = static_cast<float>(static_cast<double>(n) * log_gamma[j] / sum);
}

// Reads S, writes u; the sums of the columns over each block.
Matrix<double> draw_blocks(Pool& pool, const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                           Matrix<float>& u) {
  const Blocks blocks = blocks_of(S.rows());
  Matrix<double> sums(blocks.count(), S.columns());
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    draw_gamma_rows(S, a, key, sweep, blocks.begin(b), blocks.end(b), u, sums.row(b));
  });
  return sums;
}

}  // namespace

void draw_gammas(Pool& pool, const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                 Matrix<float>& u) {
  draw_blocks(pool, S, a, key, sweep, u);
}

void draw_columns(Pool& pool, const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                  Matrix<float>& u) {
  const std::size_t R = S.columns();
  if (a < smallest_float_shape) {
    pool.for_blocks(R, [&](std::size_t r) { draw_column_in_logs(S, r, a, key, sweep, u); });
    return;
  }
  const Matrix<double> sums = draw_blocks(pool, S, a, key, sweep, u);
  std::vector<double> total(R, 0.0);
  for (std::size_t b = 0; b < sums.rows(); ++b)
    for (std::size_t r = 0; r < R; ++r) total[r] += sums.row(b)[r];
  Matrix<float> factor(1, R);
  for (std::size_t r = 0; r < R; ++r)
    factor.row(0)[r] = total[r] < smallest_sum ? 0.0f : static_cast<float>(static_cast<double>(S.rows()) / total[r]);
  const Blocks blocks = blocks_of(S.rows());
  pool.for_blocks(blocks.count(), [&](std::size_t b) { scale_rows(factor.row(0), blocks.begin(b), blocks.end(b), u); });
  for (std::size_t r = 0; r < R; ++r)
    if (total[r] < smallest_sum) draw_column_in_logs(S, r, a, key, sweep, u);
}

double impute_diagonal(Pool& pool, const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                       std::uint32_t sweep, Matrix<std::int64_t>& S, std::int64_t* v) {
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

  // Each component owns its column of S, so columns can be filled side by side.
  pool.for_blocks(R, [&](std::size_t r) {
    Stream stream(key, sweep, r);
    const std::int64_t total = draw_poisson(stream, mean[r]);
    if (total == 0) return;
    std::vector<double> shares(n);
    for (std::size_t j = 0; j < n; ++j) shares[j] = static_cast<double>(u.row(j)[r]) * static_cast<double>(u.row(j)[r]);
    draw_multinomial(stream, total, shares, [&](std::size_t j, std::int64_t part) { S.row(j)[r] += 2 * part; });
    v[r] += total;
  });
  return rate;
}

}  // namespace ztp::cpu
