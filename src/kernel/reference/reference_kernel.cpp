#include "kernel/reference/reference_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "base/pool.hpp"
#include "kernel/bounded_draw.hpp"
#include "kernel/entry_draw.hpp"
#include "kernel/gamma_draw.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// (M24): kernel/bounded_draw.hpp with bounds in double. Returns whether the entry is done; if not, the stream has been read for as much as
// the attempt has cost.
template <class Add>
bool draw_within_bounds(Stream& stream, const Entries& entries, const Rates& rates, std::size_t e, const Add& add) {
  const std::size_t K = rates.u.size(), blocks = padded(rates.R) / components_per_block;
  const std::uint32_t* cell = entries.coords + e * K;
  const auto product = [&](std::size_t r) {
    double value = rates.scale * static_cast<double>(rates.weight[r]);
    for (std::size_t k = 0; k < K && r < rates.R; ++k) value *= static_cast<double>(rates.u[k]->row(cell[k])[r]);
    return value;
  };
  const auto sum_of_block = [&](std::size_t block) {
    double sum = 0;
    for (std::size_t l = 0; l < components_per_block; ++l) sum += product(block * components_per_block + l);
    return sum;
  };
  std::vector<double> bounds(blocks, rates.scale);
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t k = 0; k < K; ++k) {
      double sum = 0;
      for (std::size_t r = b * components_per_block; r < std::min(rates.R, (b + 1) * components_per_block); ++r)
        sum += std::pow(static_cast<double>(rates.weight[r]), 2.0 / static_cast<double>(K)) *
               std::pow(static_cast<double>(rates.u[k]->row(cell[k])[r]), 2.0);
      bounds[b] *= std::sqrt(sum) * static_cast<double>(bound_margin);
    }
  std::vector<double> unknown = bounds;
  for (std::size_t known = 0; known < std::min({blocks_known, blocks, lanes}); ++known) {
    const auto b = static_cast<std::size_t>(std::max_element(unknown.begin(), unknown.end()) - unknown.begin());
    bounds[b] = sum_of_block(b);
    for (std::size_t same = b % lanes; same < blocks; same += lanes) unknown[same] = -1;
  }
  const double total = std::accumulate(bounds.begin(), bounds.end(), 0.0);
  if (!floats_hold(total / rates.scale, total) || !boundable(entries, e, total)) return false;
  std::int64_t candidates = 1, kept = 0;
  if (!entries.observed)
    candidates = entries.missing ? draw_poisson(stream, total) : draw_zero_truncated_poisson(stream, total);
  for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
    std::size_t block = 0;
    std::vector<double> shares;
    for (const std::size_t b : search_order(blocks)) shares.push_back(bounds[b]);
    draw_multinomial(stream, 1, shares, [&](std::size_t i, std::int64_t) { block = search_order(blocks)[i]; });
    double place = stream.uniform() * bounds[block];
    for (std::size_t l = 0; l < components_per_block && place >= 0; ++l) {
      place -= product(block * components_per_block + l);
      if (place >= 0) continue;
      add(block * components_per_block + l, std::int64_t{1});
      ++kept;
    }
  }
  return kept > 0 || entries.missing;
}

class ReferenceKernel final : public Kernel {
 public:
  // (M3), (M4), (M17): each entry from its own stream, its parts added to the row of every mode and to the total; (M26): their
  // expectations instead. The sum of what entries add to the log-likelihood.                                         (M10)
  double allocate(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                  const Sums& sums) override {
    const std::size_t K = rates.u.size();
    PlainDraw plain(entries, rates);
    double log_likelihood = 0;
    if (sums.parts != nullptr) sums.parts->assign(1, {});
    for (auto* rows : sums.rows)
      if (sums.fresh) rows->clear();
    for (std::size_t e = 0; e < entries.count; ++e) {
      const std::uint32_t* cell = entries.coords + e * K;
      const auto add = [&](std::size_t r, std::int64_t count) {
        for (std::size_t k = 0; k < K; ++k) sums.rows[k]->row(cell[k])[r] += count * sums.unit;
        sums.totals[r] += count * sums.unit;
        if (sums.parts != nullptr)
          sums.parts->front().push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(r), count});
      };
      if (sums.expected) {
        log_likelihood += plain.expect(e, [&](std::size_t r, double mean) {
          const std::int64_t units = std::llround(mean * static_cast<double>(sums.unit));
          for (std::size_t k = 0; k < K; ++k) sums.rows[k]->row(cell[k])[r] += units;
          sums.totals[r] += units;
        });
        continue;
      }
      Stream stream(key, sweep, e);
      if (entries.bounded && draw_within_bounds(stream, entries, rates, e, add)) {
        const double log_z = plain.log_shares().of(cell);
        const std::int64_t y = entries.observed ? entries.observed[e] : 1;
        log_likelihood += entry_log_likelihood(entries, std::exp(log_z), log_z, y);
      } else {
        log_likelihood += plain.draw(stream, e, add);
      }
    }
    return log_likelihood;
  }

  // (M5): gamma draws, normalised; (M27): those of rows that are not listed as one draw.
  std::vector<double> draw_columns(const Columns& columns, StreamKey key, std::uint32_t sweep,
                                   Matrix<float>& u) override {
    std::vector<double> sums(columns.S.columns());
    const auto& [S, a, scale, listed, totals] = columns;
    const std::size_t n = S.rows();
    std::vector<std::uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0u);
    if (listed != nullptr) rows = *listed;
    for (std::size_t r = 0; r < S.columns(); ++r) {
      std::vector<double> log_gamma;
      double listed_counts = 0;
      for (const std::uint32_t j : rows) {
        const std::uint64_t index = (static_cast<std::uint64_t>(j) << 32) | r;
        const double counts = scale * static_cast<double>(S.row(j)[r]);
        log_gamma.push_back(log_gamma_at({key, sweep}, index, a + counts));
        listed_counts += counts;
      }
      if (rows.size() < n) {
        const double rest = std::max((*totals)[r] - listed_counts, 0.0) + a * static_cast<double>(n - rows.size());
        log_gamma.push_back(log_gamma_at({key, sweep}, (static_cast<std::uint64_t>(n) << 32) | r, rest));
      }
      sums[r] = normalise_logs(log_gamma, static_cast<double>(n));
      for (std::size_t i = 0; i < rows.size(); ++i) u.row(rows[i])[r] = static_cast<float>(log_gamma[i]);
    }
    return sums;
  }

  // (M28)
  void mean_columns(const Columns& columns, Matrix<float>& u) override {
    const double n = static_cast<double>(u.rows());
    std::vector<std::uint32_t> rows(u.rows());
    std::iota(rows.begin(), rows.end(), 0u);
    if (columns.rows != nullptr) rows = *columns.rows;
    for (const std::uint32_t j : rows)
      for (std::size_t r = 0; r < u.columns(); ++r) {
        const double shape = columns.a + columns.scale * static_cast<double>(columns.S.row(j)[r]);
        u.row(j)[r] = static_cast<float>(n * shape / (n * columns.a + (*columns.totals)[r]));
      }
  }

  // (M12): the counts of component r on the diagonal are one Poisson total, placed in proportion to u[i, r]^2.
  double impute_diagonal(const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                         std::uint32_t sweep, const Sums& sums) override {
    Matrix<std::int64_t>& S = *sums.rows[0];
    const double n = static_cast<double>(u.rows());
    std::vector<double> shares(u.rows());
    double rate = 0;
    for (std::size_t r = 0; r < u.columns(); ++r) {
      double sum = 0;
      for (std::size_t j = 0; j < u.rows(); ++j) {
        const double value = static_cast<double>(u.row(j)[r]) / n;
        sum += shares[j] = value * value;
      }
      const double mean = std::exp(log_beta[r]) * sum;
      rate += mean;
      if (sums.expected) {
        const double unit = static_cast<double>(sums.unit);
        for (std::size_t j = 0; j < u.rows(); ++j)
          S.row(j)[r] += std::llround(2 * unit * std::exp(log_beta[r]) * shares[j]);
        sums.totals[r] += std::llround(unit * mean);
        continue;
      }
      Stream stream(key, sweep, r);
      const std::int64_t total = draw_poisson(stream, mean);
      draw_multinomial(stream, total, shares,
                       [&](std::size_t j, std::int64_t part) { S.row(j)[r] += 2 * part * sums.unit; });
      sums.totals[r] += total * sums.unit;
    }
    return rate;
  }

  // The sums over rows of (M18).
  std::vector<double> column_mass(const Matrix<float>& u, Rows rows) override {
    std::vector<double> mass(u.columns(), 0.0);
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < u.columns(); ++r)
        if (rows.contains(j)) mass[r] += static_cast<double>(u.row(j)[r]) / static_cast<double>(u.rows());
    return mass;
  }

  // The multinomials of (M18), first over blocks of rows and then within them.
  void place(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             const Sums& sums) override {
    Matrix<std::int64_t>& S = *sums.rows[0];
    const Blocks blocks{u.rows(), rows_per_place};
    for (std::size_t r = 0; r < u.columns(); ++r) {
      std::vector<double> row_share(u.rows(), 0.0), block_share(blocks.count(), 0.0);
      for (std::size_t j = 0; j < u.rows(); ++j) {
        if (rows.contains(j)) row_share[j] = static_cast<double>(u.row(j)[r]);
        block_share[j / rows_per_place] += row_share[j];
      }
      Stream stream = streams.at(r);
      std::vector<std::int64_t> in_block(blocks.count(), 0);
      draw_multinomial(stream, totals[r], block_share, [&](std::size_t b, std::int64_t part) { in_block[b] += part; });
      for (std::size_t b = 0; b < in_block.size(); ++b) {
        Stream within = streams.at(((b + 1) << 32) | r);
        const std::span shares(row_share.data() + blocks.begin(b), blocks.end(b) - blocks.begin(b));
        draw_multinomial(within, in_block[b], shares,
                         [&](std::size_t i, std::int64_t part) { S.row(blocks.begin(b) + i)[r] += part * sums.unit; });
      }
    }
  }

  // Their expectations: power 1 for (M18), 2 for (M12).
  void spread(const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
              Matrix<std::int64_t>& S) override {
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < u.columns() && rows.contains(j); ++r)
        S.row(j)[r] += std::llround(factor[r] * std::pow(static_cast<double>(u.row(j)[r]), power));
  }

  // The scale of (M25), in whole numbers.
  void shift(int bits, Matrix<std::int64_t>& S) override {
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r) S.row(j)[r] = shifted(S.row(j)[r], bits);
  }

  void move(const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S) override {
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r) S.row(j)[r] = moved(S.row(j)[r], towards.row(j)[r], part);
  }

  // What (M20) needs of S.
  Tally tally(const Matrix<std::int64_t>& S) override {
    std::map<std::int64_t, std::int64_t> count;
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r)
        if (S.row(j)[r] > 0) ++count[S.row(j)[r]];
    return {count.begin(), count.end()};
  }

  // (M2)
  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    LogShares log_shares(rates);
    for (std::size_t e = 0; e < count; ++e) z[e] = std::exp(log_shares.of(coords + e * rates.u.size()));
  }

  // (M16)
  void add_probabilities(std::span<const CandidateDraw> draws, std::size_t R, std::size_t tiles,
                         Matrix<float>& sums) override {
    constexpr std::size_t side = candidates_per_panel, high = queries_per_tile;
    for (std::size_t q = 0; q < tiles * high; ++q)
      for (std::size_t j = 0; j < sums.columns(); ++j)
        for (const CandidateDraw& draw : draws) {
          double z = 0;
          for (std::size_t r = 0; r < R; ++r)
            z += static_cast<double>(draw.weights[(q / high * R + r) * high + q % high]) *
                 static_cast<double>(draw.panels[(j / side * R + r) * side + j % side]);
          sums.row(q)[j] += static_cast<float>(-std::expm1(-z * static_cast<double>(draw.scale[q])));
        }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel() {
  return std::make_unique<ReferenceKernel>();
}

}  // namespace ztp
