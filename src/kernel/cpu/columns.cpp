#include "kernel/cpu/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/draws.hpp"

namespace ztp::cpu {
namespace {

constexpr std::size_t rows_per_block =
    256;  // fixed: column sums are made over these blocks in this order for any threads

// log(a + largest count) of each column: about where the largest of its log-gamma draws will be.
std::vector<double> expected_largest(Pool& pool, const Matrix<std::int64_t>& S, double a) {
  const Blocks blocks{S.rows(), rows_per_block};
  Matrix<std::int64_t> largest(blocks.count(), S.columns());
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::int64_t* of_block = largest.row(b);
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r) of_block[r] = std::max(of_block[r], S.row(j)[r]);
  });
  std::vector<double> result(S.columns());
  for (std::size_t r = 0; r < result.size(); ++r) {
    std::int64_t count = 0;
    for (std::size_t b = 0; b < blocks.count(); ++b) count = std::max(count, largest.row(b)[r]);
    result[r] = std::log(a + static_cast<double>(count));
  }
  return result;
}

}  // namespace

void draw_columns(Pool& pool, const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                  Matrix<float>& u) {
  const std::size_t R = S.columns();
  const Blocks blocks{S.rows(), rows_per_block};

  // u holds log-gamma draws first, relative to where the largest should be: with counts of 1e8 and more they differ by less than a
  // float of log(1e8) can tell. Each block also remembers the largest of each column.
  const std::vector<double> reference = expected_largest(pool, S, a);
  Matrix<float> largest(blocks.count(), R);
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    float* block_largest = largest.row(b);
    std::fill(block_largest, block_largest + R, -std::numeric_limits<float>::infinity());
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < R; ++r) {
        Stream stream(key, sweep, (static_cast<std::uint64_t>(j) << 32) | r);
        const double draw = draw_log_gamma(stream, a + static_cast<double>(S.row(j)[r]));
        u.row(j)[r] = static_cast<float>(draw - reference[r]);
        block_largest[r] = std::max(block_largest[r], u.row(j)[r]);
      }
  });
  std::vector<float> shift(largest.row(0), largest.row(0) + R);
  for (std::size_t b = 1; b < blocks.count(); ++b)
    for (std::size_t r = 0; r < R; ++r) shift[r] = std::max(shift[r], largest.row(b)[r]);

  // The largest becomes one, so that no column is all zero however small the shapes.
  Matrix<double> sum(blocks.count(), R);
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < R; ++r) {
        const float value = std::exp(u.row(j)[r] - shift[r]);
        u.row(j)[r] = value;
        sum.row(b)[r] += static_cast<double>(value);
      }
  });
  std::vector<double> total(R, 0.0);
  for (std::size_t b = 0; b < blocks.count(); ++b)
    for (std::size_t r = 0; r < R; ++r) total[r] += sum.row(b)[r];
  std::vector<float> factor(padded(R), 0.0f);
  for (std::size_t r = 0; r < R; ++r) factor[r] = static_cast<float>(static_cast<double>(S.rows()) / total[r]);

  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j) {
      float* row = u.row(j);
      for (std::size_t r = 0; r < R; ++r) row[r] *= factor[r];
    }
  });
}

void draw_gammas(Pool& pool, const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                 Matrix<float>& u) {
  const Blocks blocks{S.rows(), rows_per_block};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r) {
        Stream stream(key, sweep, (static_cast<std::uint64_t>(j) << 32) | r);
        u.row(j)[r] = static_cast<float>(std::exp(draw_log_gamma(stream, a + static_cast<double>(S.row(j)[r]))));
      }
  });
}

double impute_diagonal(Pool& pool, const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                       std::uint32_t sweep, Matrix<std::int64_t>& S, std::int64_t* v) {
  const std::size_t R = u.columns(), n = u.rows();
  const Blocks blocks{n, rows_per_block};
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
