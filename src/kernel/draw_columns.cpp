#include "kernel/draw_columns.hpp"

#include <algorithm>
#include <numeric>

#include "kernel/gamma_draw.hpp"

namespace ztp {
namespace {

// For each column the sum of the gamma draws of all rows that are not listed, drawn at once. Its stream is that of a
// row after the last. Empty, if all rows are drawn.                                                               (M27)
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
  return ColumnDraw(kernel, columns, totals, key, t, u).sums();
}

ColumnDraw::ColumnDraw(Kernel& kernel, const Columns& columns, const std::vector<double>& totals, StreamKey key,
                       std::uint32_t t, Factors& u)
    : kernel_(kernel), columns_(columns), key_(key), t_(t), u_(u) {
  const std::size_t P = u.columns();
  log_rest_ = log_gammas_of_rest(kernel, columns, totals, {key, t});
  if (columns.a < kernel.smallest_shape()) {
    std::vector<std::size_t> all(P);
    std::iota(all.begin(), all.end(), std::size_t{0});
    sums_ = kernel.draw_in_logs(columns, all, log_rest_, key, t, u);
    return;
  }
  waits_ = columns.rows == nullptr && kernel.begin_columns(columns, key, t, u);
  if (waits_) return;
  kernel.draw_gammas(columns, key, t, u);
  sums_ = kernel.sum_columns(columns, u);
  std::vector<float> factor(P);
  for (std::size_t q = 0; q < P; ++q) {
    if (!log_rest_.empty()) sums_[q] += std::exp(log_rest_[q]);
    factor[q] = Kernel::column_factor(u.rows(), sums_[q]);
  }
  kernel.scale_columns(columns, factor, u);
  sums_ = redraw_lost(std::move(sums_));
}

std::vector<double> ColumnDraw::sums() {
  return waits_ ? redraw_lost(kernel_.end_columns(u_)) : sums_;
}

std::vector<double> ColumnDraw::redraw_lost(std::vector<double> sums) {
  std::vector<std::size_t> lost;
  for (std::size_t q = 0; q < sums.size(); ++q)
    if (sums[q] < Kernel::smallest_sum) lost.push_back(q);
  if (lost.empty()) return sums;
  const std::vector<double> redrawn = kernel_.draw_in_logs(columns_, lost, log_rest_, key_, t_, u_);
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
