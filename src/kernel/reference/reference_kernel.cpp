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
#include "kernel/gamma_draw.hpp"
#include "kernel/reference/reference_candidates.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// (M24): kernel/bounded_draw.hpp with bounds in double. Returns whether the entry is done; if not, the stream has been
// read for as much as the attempt has cost.
template <class Add>
bool draw_within_bounds(Stream& stream, const CountTask& task, std::size_t e, const Add& add) {
  const HostCells& cells = task.cells;
  const HostRates& rates = task.rates;
  const std::size_t K = rates.u.size(), blocks = padded(rates.R) / components_per_block;
  const std::uint32_t* cell = task.cell(e);
  const auto product = [&](std::size_t r) {
    double value = rates.scale * static_cast<double>(rates.weight[r]);
    for (std::size_t k = 0; k < K && r < rates.R; ++k) value *= static_cast<double>(rates.factor(k, cell[k], r));
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
               std::pow(static_cast<double>(rates.factor(k, cell[k], r)), 2.0);
      bounds[b] *= std::sqrt(sum) * static_cast<double>(bound_margin);
    }
  std::vector<double> unknown = bounds;
  for (std::size_t known = 0; known < std::min({blocks_known, blocks, lanes}); ++known) {
    const auto b = static_cast<std::size_t>(std::max_element(unknown.begin(), unknown.end()) - unknown.begin());
    bounds[b] = sum_of_block(b);
    for (std::size_t same = b % lanes; same < blocks; same += lanes) unknown[same] = -1;
  }
  const double total = std::accumulate(bounds.begin(), bounds.end(), 0.0);
  if (!floats_hold(total / rates.scale, total) || !boundable(cells, e, total)) return false;
  std::int64_t candidates = 1, kept = 0;
  if (!cells.observed)
    candidates = cells.missing ? draw_poisson(stream, total) : draw_zero_truncated_poisson(stream, total);
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
  return kept > 0 || cells.missing;
}

// Where counts go: S[i_k, c(r, k)] of every mode k, and the total of r.
void add_units(const CountSums& sums, const std::uint32_t* cell, std::size_t r, std::int64_t units) {
  const FactorLayout& layout = *sums.layout;
  for (std::size_t k = 0; k < layout.modes(); ++k)
    on_this_host(*sums.rows[layout.matrix(k)]).values64().row(cell[k])[layout.column(k, r)] += units;
  sums.totals[r] += units;
}

// The rows that a draw of columns writes.
std::vector<std::uint32_t> rows_of(const Columns& columns) {
  if (columns.rows != nullptr) return *columns.rows;
  std::vector<std::uint32_t> all(columns.S.rows());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

const Matrix<std::int64_t>& counts_of(const Counts& S) {
  return on_this_host(S).values64();
}
Matrix<std::int64_t>& counts_of(Counts& S) {
  return on_this_host(S).values64();
}

// Gamma(a + scale S[j, q], 1) in logs.
double log_gamma(const Columns& columns, const Streams& streams, std::uint64_t first_row, std::uint32_t j,
                 std::size_t q) {
  const double shape = columns.a + columns.scale * static_cast<double>(counts_of(columns.S).row(j)[q]);
  return log_gamma_at(streams, ((first_row + j) << 32) | q, shape);
}

class ReferenceKernel final : public Kernel {
 public:
  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    return HostArrays().factors(rows, columns, place);
  }
  // Always wide: what narrow counts are compared with.
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool, RowPlace place) override {
    return HostArrays().counts(rows, columns, true, place);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    return std::make_unique<HostOnes>(cells, layout);
  }

  // (M3), (M4), (M17): each entry from its own stream, its parts added to the row of every mode and to the total;
  // (M26): their expectations instead. The sum of what entries add to the log-likelihood.                       (M10)
  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                    const CountSums& sums) override {
    const HostRates on_host(rates);
    const CountTask task{on_this_host(ones).cells, on_host, {key, settings.t}, settings};
    PlainDraw plain(task);
    ExactSum log_likelihood;
    if (settings.parts != nullptr) settings.parts->assign(1, {});
    for (Counts* rows : sums.rows)
      if (settings.fresh) rows->clear();
    for (std::size_t e = 0; e < ones.count(); ++e) {
      const std::uint32_t* cell = task.cell(e);
      const auto add = [&](std::size_t r, std::int64_t count) {
        add_units(sums, cell, r, count * settings.unit);
        if (settings.parts != nullptr)
          settings.parts->front().push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(r), count});
      };
      if (settings.expected) {
        log_likelihood.add(plain.expect(e, [&](std::size_t r, double mean) {
          add_units(sums, cell, r, std::llround(mean * static_cast<double>(settings.unit)));
        }));
        continue;
      }
      Stream stream = task.stream(e);
      if (settings.bounded && draw_within_bounds(stream, task, e, add)) {
        const double log_z = plain.log_shares().of(cell);
        log_likelihood.add(entry_log_likelihood(task.cells, std::exp(log_z), log_z, task.observed(e)));
      } else {
        log_likelihood.add(plain.draw(stream, e, add));
      }
    }
    return log_likelihood;
  }

  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    const HostCells& cells = on_this_host(ones).cells;
    for (std::size_t e = 0; e < cells.count; ++e) {
      const std::size_t r = Stream(key, 0, cells.number(e)).below(sums.layout->components());
      add_units(sums, cells.coords + e * sums.layout->modes(), r, cells.observed ? cells.observed[e] : 1);
    }
  }

  // All columns are drawn in logs.
  double smallest_shape() const override { return std::numeric_limits<double>::infinity(); }

  // (M5)
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    Matrix<float>& values = on_this_host(u).values;
    for (const std::uint32_t j : rows_of(columns))
      for (std::size_t q = 0; q < u.columns(); ++q)
        values.row(j)[q] = static_cast<float>(std::exp(log_gamma(columns, {key, t}, u.first_row(), j, q)));
  }

  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    std::vector<double> sums(u.columns(), 0.0);
    for (const std::uint32_t j : rows_of(columns))
      for (std::size_t q = 0; q < u.columns(); ++q) sums[q] += static_cast<double>(values_of(u).row(j)[q]);
    return sums;
  }

  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    for (const std::uint32_t j : rows_of(columns))
      for (std::size_t q = 0; q < u.columns(); ++q) on_this_host(u).values.row(j)[q] *= factor[q];
  }

  // (M5); (M27): rows that are not listed are one draw.
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    const std::vector<std::uint32_t> rows = rows_of(columns);
    std::vector<double> sums;
    for (const std::size_t q : which) {
      std::vector<double> logs;
      for (const std::uint32_t j : rows) logs.push_back(log_gamma(columns, {key, t}, u.first_row(), j, q));
      if (!log_rest.empty()) logs.push_back(log_rest[q]);
      sums.push_back(normalise_logs(logs, static_cast<double>(u.rows())));
      for (std::size_t i = 0; i < rows.size(); ++i)
        on_this_host(u).values.row(rows[i])[q] = static_cast<float>(logs[i]);
    }
    return sums;
  }

  std::vector<std::int64_t> sum_counts(const Columns& columns) override {
    std::vector<std::int64_t> sums(columns.S.columns(), 0);
    for (const std::uint32_t j : rows_of(columns))
      for (std::size_t q = 0; q < sums.size(); ++q) sums[q] += counts_of(columns.S).row(j)[q];
    return sums;
  }

  // (M28)
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    for (const std::uint32_t j : rows_of(columns))
      for (std::size_t q = 0; q < u.columns(); ++q) {
        const double shape = columns.a + columns.scale * static_cast<double>(counts_of(columns.S).row(j)[q]);
        on_this_host(u).values.row(j)[q] = static_cast<float>(shape * static_cast<double>(factor[q]));
      }
  }

  // (M12): the counts of component r on the diagonal are one Poisson total, placed in proportion to u[i, r]^2.
  double impute_diagonal(const Factors& factors, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& counts, std::int64_t* totals) override {
    const Matrix<float>& u = values_of(factors);
    Matrix<std::int64_t>& S = counts_of(counts);
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
      if (settings.expected) {
        const double unit = static_cast<double>(settings.unit);
        for (std::size_t j = 0; j < u.rows(); ++j)
          S.row(j)[r] += std::llround(2 * unit * std::exp(log_beta[r]) * shares[j]);
        totals[r] += std::llround(unit * mean);
        continue;
      }
      Stream stream(key, settings.t, r);
      const std::int64_t total = draw_poisson(stream, mean);
      draw_multinomial(stream, total, shares,
                       [&](std::size_t j, std::int64_t part) { S.row(j)[r] += 2 * part * settings.unit; });
      totals[r] += total * settings.unit;
    }
    return rate;
  }

  // The sums over rows of (M18).
  std::vector<double> column_mass(const Factors& factors, RowMask rows) override {
    const Matrix<float>& u = values_of(factors);
    std::vector<double> mass(u.columns(), 0.0);
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < u.columns(); ++r)
        if (rows.contains(j)) mass[r] += static_cast<double>(u.row(j)[r]) / static_cast<double>(u.rows());
    return mass;
  }

  // The multinomials of (M18), first over blocks of rows and then within them.
  void place(const Factors& factors, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& counts) override {
    const Matrix<float>& u = values_of(factors);
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
        draw_multinomial(within, in_block[b], shares, [&](std::size_t i, std::int64_t part) {
          counts_of(counts).row(blocks.begin(b) + i)[r] += part * unit;
        });
      }
    }
  }

  // Their expectations: power 1 for (M18), 2 for (M12).
  void spread(const Factors& factors, RowMask rows, int power, const std::vector<double>& factor,
              Counts& counts) override {
    const Matrix<float>& u = values_of(factors);
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < u.columns() && rows.contains(j); ++r)
        counts_of(counts).row(j)[r] += std::llround(factor[r] * std::pow(static_cast<double>(u.row(j)[r]), power));
  }

  // The scale of (M25), in whole numbers.
  void shift(int bits, Counts& counts) override {
    Matrix<std::int64_t>& S = counts_of(counts);
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r) S.row(j)[r] = shifted(S.row(j)[r], bits);
  }

  void move(const Counts& towards, double part, Counts& counts) override {
    Matrix<std::int64_t>& S = counts_of(counts);
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r)
        S.row(j)[r] = moved(S.row(j)[r], counts_of(towards).row(j)[r], part);
  }

  // What (M20) needs of S.
  Tally tally(const Counts& counts) override {
    const Matrix<std::int64_t>& S = counts_of(counts);
    std::map<std::int64_t, std::int64_t> count;
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r)
        if (S.row(j)[r] > 0) ++count[S.row(j)[r]];
    return {count.begin(), count.end()};
  }

  // (M2)
  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    const HostRates on_host(rates);
    LogShares log_shares(on_host);
    for (std::size_t e = 0; e < count; ++e) z[e] = std::exp(log_shares.of(coords + e * rates.modes()));
  }

  void score_parts(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* parts) override {
    const HostRates on_host(rates);
    for (std::size_t e = 0; e < count; ++e) rate_parts(on_host, coords + e * rates.modes(), parts + e * rates.R());
  }

  void score(const Ones& cells, const Rates& rates, double* z) override {
    score(on_this_host(cells).cells.coords, cells.count(), rates, z);
  }

  std::unique_ptr<CandidateRanking> candidates(const FactorLayout& layout, const CandidateSettings& settings) override {
    return std::make_unique<ReferenceCandidates>(*this, layout, settings);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel() {
  return std::make_unique<ReferenceKernel>();
}

}  // namespace ztp
