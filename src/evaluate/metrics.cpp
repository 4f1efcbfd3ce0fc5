#include "ztp/metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ztp {
namespace {

// Calls group(begin, end, ones) for each run of equal probabilities in keys[0..size), which are sorted.
template <class Group>
void for_groups(const Buffer<std::uint64_t>& keys, Group group) {
  for (std::size_t begin = 0; begin < keys.size();) {
    std::size_t end = begin;
    std::uint64_t ones = 0;
    while (end < keys.size() && keys[end] >> 1 == keys[begin] >> 1) ones += keys[end++] & 1;
    group(begin, end, ones);
    begin = end;
  }
}

double auc_roc(const Buffer<std::uint64_t>& keys, double ones, double zeros) {
  double rank_sum = 0;  // of the ones, ascending, mid-ranks for ties
  for_groups(keys, [&](std::size_t begin, std::size_t end, std::uint64_t tied_ones) {
    rank_sum += static_cast<double>(tied_ones) * 0.5 * static_cast<double>(begin + 1 + end);
  });
  return (rank_sum - ones * (ones + 1) / 2) / (ones * zeros);
}

double average_precision(const Buffer<std::uint64_t>& keys, double ones) {
  // From the lowest threshold up: at a tie group, everything from its begin to the end of the list is called a one.
  double area = 0, ones_below = 0;
  for_groups(keys, [&](std::size_t begin, std::size_t, std::uint64_t tied_ones) {
    const double called = static_cast<double>(keys.size() - begin);
    area += static_cast<double>(tied_ones) / ones * (ones - ones_below) / called;
    ones_below += static_cast<double>(tied_ones);
  });
  return area;
}

constexpr MetricField fields[] = {
    {"auc_roc", "AUC-ROC", 4, &Metrics::auc_roc},
    {"auc_pr", "AUC-PR", 4, &Metrics::auc_pr},
    {"log_loss", "log-loss", 5, &Metrics::log_loss},
    {"brier", "Brier score", 5, &Metrics::brier},
    {"calibration_error", "calibration error", 5, &Metrics::calibration_error},
};

}  // namespace

std::span<const MetricField> metric_fields() {
  return fields;
}

void MetricsCollector::add(double probability, bool one) {
  const double p = std::clamp(probability, 0.0, 1.0);
  keys_.push_back((std::bit_cast<std::uint64_t>(p + 0.0) & ~std::uint64_t{1}) | (one ? 1u : 0u));
  const double safe = std::clamp(p, 1e-12, 1 - 1e-12);
  log_loss_ -= one ? std::log(safe) : std::log1p(-safe);
  brier_ += (p - (one ? 1 : 0)) * (p - (one ? 1 : 0));
  ones_ += one ? 1 : 0;
  sorted_ = false;
}

void MetricsCollector::sort() {
  if (!sorted_) std::sort(keys_.begin(), keys_.end());
  sorted_ = true;
}

void MetricsCollector::for_ties(const std::function<void(double, std::uint64_t, std::uint64_t)>& use) {
  sort();
  for_groups(keys_, [&](std::size_t begin, std::size_t end, std::uint64_t ones) {
    use(std::bit_cast<double>(keys_[begin] & ~std::uint64_t{1}), ones, end - begin - ones);
  });
}

std::vector<CalibrationBin> MetricsCollector::calibration_bins(double size_of_zero) {
  const double size = static_cast<double>(ones_) + size_of_zero * static_cast<double>(keys_.size() - ones_);
  std::vector<CalibrationBin> bins;
  CalibrationBin bin;
  double ones_below = 0, zeros_below = 0;
  std::size_t bins_closed = 0;
  for_ties([&](double probability, std::uint64_t ones, std::uint64_t zeros) {
    bin.ones += ones;
    bin.zeros += zeros;
    bin.probability += probability * static_cast<double>(ones + zeros);
    bin.probability_of_ones += probability * static_cast<double>(ones);
    ones_below += static_cast<double>(ones);
    zeros_below += static_cast<double>(zeros);
    const double below = ones_below + size_of_zero * zeros_below;
    if (below < size * static_cast<double>(bins_closed + 1) / 20) return;
    bins.push_back(bin);
    bin = {};
    bins_closed = static_cast<std::size_t>(20 * below / size);
  });
  if (bin.ones + bin.zeros > 0) bins.push_back(bin);  // what rounding has left
  return bins;
}

Metrics MetricsCollector::finish() {
  sort();
  Metrics result;
  result.ones = ones_;
  result.zeros = keys_.size() - ones_;
  const double ones = static_cast<double>(result.ones), zeros = static_cast<double>(result.zeros);
  const double cells = ones + zeros, none = std::numeric_limits<double>::quiet_NaN();
  result.auc_roc = ones > 0 && zeros > 0 ? auc_roc(keys_, ones, zeros) : none;
  result.auc_pr = ones > 0 ? average_precision(keys_, ones) : none;
  result.log_loss = cells > 0 ? log_loss_ / cells : none;
  result.brier = cells > 0 ? brier_ / cells : none;
  result.calibration_error = cells > 0 ? 0 : none;
  for (const CalibrationBin& bin : calibration_bins())
    result.calibration_error += std::abs(static_cast<double>(bin.ones) - bin.probability) / cells;
  return result;
}

}  // namespace ztp
