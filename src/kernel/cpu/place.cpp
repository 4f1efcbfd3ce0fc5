#include "kernel/cpu/place.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <span>

#include "model/distributions.hpp"

namespace ztp::cpu {
namespace {

// Sums of u over the wanted rows of each block, a row a block. The blocks are fixed, and so is the order of the sums.
Matrix<double> block_sums(Pool& pool, const Matrix<float>& u, RowMask rows) {
  const Blocks blocks{u.rows(), rows_per_place};
  Matrix<double> sums(blocks.count(), u.columns());
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    double* sum = sums.row(b);
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j) {
      if (!rows.contains(j)) continue;
      const float* row = u.row(j);
      for (std::size_t r = 0; r < u.columns(); ++r) sum[r] += static_cast<double>(row[r]);
    }
  });
  return sums;
}

}  // namespace

std::vector<double> column_mass(Pool& pool, const Matrix<float>& u, RowMask rows) {
  const Matrix<double> sums = block_sums(pool, u, rows);
  std::vector<double> mass(u.columns(), 0.0);
  for (std::size_t b = 0; b < sums.rows(); ++b)
    for (std::size_t r = 0; r < mass.size(); ++r) mass[r] += sums.row(b)[r];
  for (double& value : mass) value /= static_cast<double>(u.rows());
  return mass;
}

std::vector<double> sums_of_places(Pool& pool, const Matrix<float>& u, RowMask rows) {
  const Matrix<double> sums = block_sums(pool, u, rows);
  std::vector<double> packed;
  for (std::size_t b = 0; b < sums.rows(); ++b) packed.insert(packed.end(), sums.row(b), sums.row(b) + sums.columns());
  return packed;
}

void place(Pool& pool, const Matrix<float>& u, RowMask rows, const std::vector<std::int64_t>& totals,
           const Streams& streams, std::int64_t unit, const PlaceSums& sums, HostCounts& S) {
  const Blocks blocks{u.rows(), rows_per_place};  // that are here
  S.make_room(unit * *std::max_element(totals.begin(), totals.end()));
  // Each component owns its column of these counts and of S, so components can be placed side by side.
  const auto place_column = [&]<class T>(std::size_t r, Matrix<T>& counts) {
    if (totals[r] == 0) return;
    std::vector<double> block_share(sums.blocks), row_share(rows_per_place);
    for (std::size_t b = 0; b < sums.blocks; ++b) block_share[b] = sums.of_all[b * u.columns() + r];
    Stream stream = streams.at(r);
    // Small totals come unit by unit: each block is gathered first, since its rows have one stream.
    std::vector<std::int64_t> in_block(sums.blocks, 0);
    draw_multinomial(stream, totals[r], block_share, [&](std::size_t b, std::int64_t part) { in_block[b] += part; });
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const std::size_t number = sums.first + b;
      if (in_block[number] == 0) continue;
      const std::size_t begin = blocks.begin(b), size = blocks.end(b) - begin;
      for (std::size_t i = 0; i < size; ++i)
        row_share[i] = rows.contains(begin + i) ? static_cast<double>(u.row(begin + i)[r]) : 0.0;
      Stream within = streams.at(((number + 1) << 32) | r);
      draw_multinomial(
          within, in_block[number], std::span<const double>(row_share.data(), size),
          [&](std::size_t i, std::int64_t part) { counts.row(begin + i)[r] += static_cast<T>(part * unit); });
    }
  };
  S.visit([&](auto& counts) { pool.for_blocks(u.columns(), [&](std::size_t r) { place_column(r, counts); }); });
}

void spread(Pool& pool, const Matrix<float>& u, RowMask rows, int power, const std::vector<double>& factor,
            HostCounts& S) {
  S.widen();
  const Blocks blocks{u.rows(), rows_per_place};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j) {
      if (!rows.contains(j)) continue;
      std::int64_t* counts = S.values64().row(j);
      for (std::size_t r = 0; r < u.columns(); ++r) {
        const double value = static_cast<double>(u.row(j)[r]);
        counts[r] += std::llround(factor[r] * (power == 2 ? value * value : value));
      }
    }
  });
}

void shift(Pool& pool, int bits, HostCounts& S) {
  S.widen();
  Matrix<std::int64_t>& counts = S.values64();
  const Blocks blocks{counts.rows(), 4096};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::transform(counts.row(blocks.begin(b)), counts.row(blocks.end(b)), counts.row(blocks.begin(b)),
                   [bits](std::int64_t value) { return shifted(value, bits); });
  });
}

void move(Pool& pool, const HostCounts& towards, double part, HostCounts& S) {
  S.widen();
  Matrix<std::int64_t>& counts = S.values64();
  towards.visit([&](const auto& other) {
    const Blocks blocks{counts.rows(), 4096};
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      std::transform(counts.row(blocks.begin(b)), counts.row(blocks.end(b)), other.row(blocks.begin(b)),
                     counts.row(blocks.begin(b)),
                     [part](std::int64_t value, std::int64_t to) { return moved(value, to, part); });
    });
  });
}

Tally tally(Pool& pool, const HostCounts& S) {
  constexpr std::int64_t small = 256;
  std::vector<std::int64_t> count(small, 0);
  std::map<std::int64_t, std::int64_t> large;
  std::mutex mutex;
  const Blocks blocks{S.rows(), 4096};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::vector<std::int64_t> block_count(small, 0);
    std::map<std::int64_t, std::int64_t> block_large;
    S.visit([&](const auto& counts) {
      for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
        for (std::size_t r = 0; r < counts.columns(); ++r) {
          const std::int64_t value = counts.row(j)[r];
          ++(value < small ? block_count[static_cast<std::size_t>(value)] : block_large[value]);
        }
    });
    const std::lock_guard lock(mutex);  // integers: the order does not matter
    for (std::size_t value = 0; value < count.size(); ++value) count[value] += block_count[value];
    for (const auto& [value, times] : block_large) large[value] += times;
  });
  Tally result;
  for (std::size_t value = 1; value < count.size(); ++value)
    if (count[value] > 0) result.emplace_back(value, count[value]);
  result.insert(result.end(), large.begin(), large.end());
  return result;
}

}  // namespace ztp::cpu
