#include "kernel/draw_columns.hpp"

#include <algorithm>
#include <numeric>

#include "kernel/gamma_draw.hpp"

namespace ztp {
namespace {

// Below this the sum of a column of floats may have lost the draws that make it up.
constexpr double smallest_sum = 1e-20;

// What the rows that are not listed have of each column, as one gamma draw: the sum of theirs. Its stream is that of a
// row after the last.
// Empty, if all rows are drawn.                                                                                   (M27)
std::vector<double> log_gammas_of_rest(Kernel& kernel, const Columns& columns, const std::vector<double>& totals,
                                       const Streams& streams) {
  const std::size_t n = columns.S.rows(), P = columns.S.columns();
  std::vector<double> log_rest;
  if (columns.rows == nullptr || columns.rows->size() == n) return log_rest;
  const std::vector<std::int64_t> listed = kernel.sum_counts(columns);
  for (std::size_t q = 0; q < P; ++q) {
    const double counts = std::max(totals[q] - columns.scale * static_cast<double>(listed[q]), 0.0);
    const double shape = counts + columns.a * static_cast<double>(n - columns.rows->size());
    log_rest.push_back(log_gamma_at(streams, (static_cast<std::uint64_t>(n) << 32) | q, shape));
  }
  return log_rest;
}

}  // namespace

std::vector<double> draw_columns(Kernel& kernel, const Columns& columns, const std::vector<double>& totals,
                                 StreamKey key, std::uint32_t t, Factors& u) {
  const std::size_t P = u.columns();
  const std::vector<double> log_rest = log_gammas_of_rest(kernel, columns, totals, {key, t});
  if (columns.a < kernel.smallest_shape()) {
    std::vector<std::size_t> all(P);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return kernel.draw_in_logs(columns, all, log_rest, key, t, u);
  }
  kernel.draw_gammas(columns, key, t, u);
  std::vector<double> sums = kernel.sum_columns(columns, u);
  std::vector<float> factor(P, 0.0f);
  std::vector<std::size_t> lost;
  for (std::size_t q = 0; q < P; ++q) {
    if (!log_rest.empty()) sums[q] += std::exp(log_rest[q]);
    if (sums[q] < smallest_sum)
      lost.push_back(q);
    else
      factor[q] = std::isfinite(sums[q]) ? static_cast<float>(static_cast<double>(u.rows()) / sums[q]) : 1.0f;
  }
  kernel.scale_columns(columns, factor, u);
  if (lost.empty()) return sums;
  const std::vector<double> redrawn = kernel.draw_in_logs(columns, lost, log_rest, key, t, u);
  for (std::size_t i = 0; i < lost.size(); ++i) sums[lost[i]] = redrawn[i];
  return sums;
}

void mean_columns(Kernel& kernel, const Columns& columns, const std::vector<double>& totals, Factors& u) {
  const double n = static_cast<double>(u.rows());
  std::vector<float> factor(u.columns());
  for (std::size_t q = 0; q < factor.size(); ++q) factor[q] = static_cast<float>(n / (n * columns.a + totals[q]));
  kernel.mean_columns(columns, factor, u);
}

}  // namespace ztp
