#include "kernel/reference/reference_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/pool.hpp"
#include "kernel/entry_draw.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

class ReferenceKernel final : public Kernel {
 public:
  double allocate(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                  const Sums& sums) override {
    const std::size_t K = rates.u.size();
    const std::vector<std::size_t> order = search_order(rates.R);
    std::vector<double> shares(rates.R);
    double log_likelihood = 0;
    if (sums.parts != nullptr) sums.parts->assign(1, {});
    for (std::size_t e = 0; e < entries.count; ++e) {
      const std::uint32_t* cell = entries.coords + e * K;
      const double log_z = log_shares(rates, cell, order, shares);
      if (entries.missing && log_z < log_smallest_mean) continue;  // surely zero
      if (!std::isfinite(log_z))
        throw Error(ErrorKind::numeric, fmt::format("sweep {}: {} number {} has rate zero or infinity", sweep,
                                                    entries.missing ? "missing cell" : "one", e + 1));
      const double z = std::exp(log_z);
      Stream stream(key, sweep, e);
      const std::int64_t y = draw_entry(stream, entries, e, z);                    // (M3), (M17)
      draw_multinomial(stream, y, shares, [&](std::size_t i, std::int64_t part) {  // (M4)
        for (std::size_t k = 0; k < K; ++k) sums.rows[k]->row(cell[k])[order[i]] += part;
        sums.totals[order[i]] += part;
        if (sums.parts != nullptr)
          sums.parts->front().push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(order[i]), part});
      });
      const double count = static_cast<double>(y);
      if (entries.missing)
        log_likelihood += z;
      else if (entries.observed)
        log_likelihood += count * log_z - log_factorial(count);
      else
        log_likelihood += z < 1e-300 ? log_z : log_expm1(z);
    }
    return log_likelihood;
  }

  void draw_columns(const Matrix<std::int64_t>& S, double a, StreamKey key, std::uint32_t sweep,
                    Matrix<float>& u) override {
    const std::size_t n = S.rows();
    std::vector<double> log_gamma(n);
    for (std::size_t r = 0; r < S.columns(); ++r) {
      for (std::size_t j = 0; j < n; ++j) {
        Stream stream(key, sweep, (static_cast<std::uint64_t>(j) << 32) | r);
        log_gamma[j] = draw_log_gamma(stream, a + static_cast<double>(S.row(j)[r]));
      }
      const double largest = *std::max_element(log_gamma.begin(), log_gamma.end());
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::exp(log_gamma[j] - largest);
      for (std::size_t j = 0; j < n; ++j)
        u.row(j)[r] = static_cast<float>(static_cast<double>(n) * std::exp(log_gamma[j] - largest) / sum);
    }
  }

  double impute_diagonal(const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                         std::uint32_t sweep, Matrix<std::int64_t>& S, std::int64_t* v) override {
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
      Stream stream(key, sweep, r);
      const std::int64_t total = draw_poisson(stream, mean);
      draw_multinomial(stream, total, shares, [&](std::size_t j, std::int64_t part) { S.row(j)[r] += 2 * part; });
      v[r] += total;
    }
    return rate;
  }

  std::vector<double> column_mass(const Matrix<float>& u, Rows rows) override {
    std::vector<double> mass(u.columns(), 0.0);
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < u.columns(); ++r)
        if (rows.contains(j)) mass[r] += static_cast<double>(u.row(j)[r]) / static_cast<double>(u.rows());
    return mass;
  }

  void place(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, StreamKey key,
             std::uint32_t sweep, Matrix<std::int64_t>& S) override {
    const Blocks blocks{u.rows(), rows_per_place};
    for (std::size_t r = 0; r < u.columns(); ++r) {
      std::vector<double> row_share(u.rows(), 0.0), block_share(blocks.count(), 0.0);
      for (std::size_t j = 0; j < u.rows(); ++j) {
        if (rows.contains(j)) row_share[j] = static_cast<double>(u.row(j)[r]);
        block_share[j / rows_per_place] += row_share[j];
      }
      Stream stream(key, sweep, r);
      std::vector<std::int64_t> in_block(blocks.count(), 0);
      draw_multinomial(stream, totals[r], block_share, [&](std::size_t b, std::int64_t part) { in_block[b] += part; });
      for (std::size_t b = 0; b < in_block.size(); ++b) {
        Stream within(key, sweep, ((b + 1) << 32) | r);
        const std::span shares(row_share.data() + blocks.begin(b), blocks.end(b) - blocks.begin(b));
        draw_multinomial(within, in_block[b], shares,
                         [&](std::size_t i, std::int64_t part) { S.row(blocks.begin(b) + i)[r] += part; });
      }
    }
  }

  Tally tally(const Matrix<std::int64_t>& S) override {
    std::map<std::int64_t, std::int64_t> count;
    for (std::size_t j = 0; j < S.rows(); ++j)
      for (std::size_t r = 0; r < S.columns(); ++r)
        if (S.row(j)[r] > 0) ++count[S.row(j)[r]];
    return {count.begin(), count.end()};
  }

  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    const std::vector<std::size_t> order = search_order(rates.R);
    std::vector<double> shares(rates.R);
    for (std::size_t e = 0; e < count; ++e)
      z[e] = std::exp(log_shares(rates, coords + e * rates.u.size(), order, shares));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel() {
  return std::make_unique<ReferenceKernel>();
}

}  // namespace ztp
