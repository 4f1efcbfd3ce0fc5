#include "ztp/metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "evaluate/calibration_map.hpp"

namespace ztp {
namespace {

constexpr double most_bins = 20;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

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
    {"log_loss", "log-loss", 7, &Metrics::log_loss},
    {"brier", "Brier score", 7, &Metrics::brier},
    {"skill", "skill", 4, &Metrics::skill},
    {"calibration_slope", "calibration slope", 3, &Metrics::calibration_slope},
    {"calibration_intercept", "calibration intercept", 3, &Metrics::calibration_intercept},
    {"misplaced", "misplaced ones", 4, &Metrics::misplaced},
    {"test_log_loss", "test log-loss", 5, &Metrics::test_log_loss},
    {"test_brier", "test Brier score", 5, &Metrics::test_brier},
    {"test_calibration_error", "test calibration error", 5, &Metrics::test_calibration_error},
};

double probability_of(std::uint64_t key) {
  return std::bit_cast<double>(key & ~std::uint64_t{1});
}

double log_loss(double p, bool one) {
  const double safe = std::clamp(p, 1e-12, 1 - 1e-12);
  return one ? -std::log(safe) : -std::log1p(-safe);
}

double squared_error(double p, bool one) {
  return (p - (one ? 1 : 0)) * (p - (one ? 1 : 0));
}

// Puts cells, which come in ascending order of their probabilities, into bins.
class Binning {
 public:
  // A one takes room_of_one, a zero room_of_zero; together all cells take `room`.
  Binning(double room, double room_of_one, double room_of_zero)
      : room_(room), of_one_(room_of_one), of_zero_(room_of_zero) {}

  void add(double probability, bool one, double weight) {
    ++(one ? bin_.ones : bin_.zeros);
    bin_.probability += weight * probability;
    if (one) bin_.probability_of_ones += probability;
    if (!one) bin_.zero_weight += weight;
    if (!one) bin_.squared_zero_weight += weight * weight;
    below_ += one ? of_one_ : of_zero_;
  }
  // Between cells of different probabilities.
  void may_close() {
    if (below_ < room_ * (closed_ + 1) / most_bins) return;
    bins_.push_back(bin_);
    bin_ = {};
    closed_ = std::floor(most_bins * below_ / room_);
  }
  std::vector<CalibrationBin> finish() {
    if (bin_.ones + bin_.zeros > 0) bins_.push_back(bin_);  // what rounding has left
    return bins_;
  }

 private:
  double room_, of_one_, of_zero_, below_ = 0, closed_ = 0;
  CalibrationBin bin_;
  std::vector<CalibrationBin> bins_;
};

}  // namespace

std::span<const MetricField> metric_fields() {
  return fields;
}

void MetricsCollector::add(double probability, bool one, double weight, bool tested) {
  const double p = std::clamp(probability, 0.0, 1.0);
  const std::uint64_t key = (std::bit_cast<std::uint64_t>(p + 0.0) & ~std::uint64_t{1}) | (one ? 1u : 0u);
  cells_.push_back({key, weight});
  if (tested) keys_.push_back(key);
  if (tested && one) ++ones_;
  sorted_ = false;
}

void MetricsCollector::weigh_zeros(double weight) {
  for (WeightedCell& cell : cells_)
    if ((cell.key & 1) == 0) cell.weight *= weight;
}

void MetricsCollector::sort() {
  if (!sorted_) {
    std::sort(keys_.begin(), keys_.end());
    std::sort(cells_.begin(), cells_.end(), [](const WeightedCell& a, const WeightedCell& b) {
      return a.key != b.key ? a.key < b.key : a.weight < b.weight;  // sums do not depend on the order of adding
    });
  }
  sorted_ = true;
}

void MetricsCollector::for_ties(const std::function<void(double, std::uint64_t, std::uint64_t)>& use) {
  sort();
  for_groups(keys_, [&](std::size_t begin, std::size_t end, std::uint64_t ones) {
    use(probability_of(keys_[begin]), ones, end - begin - ones);
  });
}

std::vector<CalibrationBin> MetricsCollector::calibration_bins(bool tensor) {
  sort();
  if (!tensor) {
    Binning bins(static_cast<double>(keys_.size()), 1, 1);
    for (std::size_t e = 0; e < keys_.size(); ++e) {
      bins.add(probability_of(keys_[e]), (keys_[e] & 1) != 0, 1);
      if (e + 1 == keys_.size() || keys_[e + 1] >> 1 != keys_[e] >> 1) bins.may_close();
    }
    return bins.finish();
  }
  double ones = 0;
  for (const WeightedCell& cell : cells_) ones += static_cast<double>(cell.key & 1);
  const double zeros = static_cast<double>(cells_.size()) - ones;
  Binning bins(ones > 0 && zeros > 0 ? 2 : 1, 1 / std::max(ones, 1.0), 1 / std::max(zeros, 1.0));
  for (std::size_t e = 0; e < cells_.size(); ++e) {
    bins.add(probability_of(cells_[e].key), (cells_[e].key & 1) != 0, cells_[e].weight);
    if (e + 1 == cells_.size() || cells_[e + 1].key >> 1 != cells_[e].key >> 1) bins.may_close();
  }
  return bins.finish();
}

Metrics MetricsCollector::finish() {
  sort();
  Metrics result;
  result.ones = ones_;
  result.zeros = keys_.size() - ones_;
  const double ones = static_cast<double>(result.ones), zeros = static_cast<double>(result.zeros);
  const double cells = ones + zeros;
  result.auc_roc = ones > 0 && zeros > 0 ? auc_roc(keys_, ones, zeros) : none;
  result.auc_pr = ones > 0 && zeros > 0 ? average_precision(keys_, ones) : none;
  for (const std::uint64_t key : keys_) {
    result.test_log_loss += log_loss(probability_of(key), (key & 1) != 0) / cells;
    result.test_brier += squared_error(probability_of(key), (key & 1) != 0) / cells;
  }
  for (const CalibrationBin& bin : calibration_bins())
    result.test_calibration_error += std::abs(static_cast<double>(bin.ones) - bin.probability) / cells;

  std::vector<double> logits, weights;
  std::vector<std::uint8_t> outcomes;
  double weight = 0, weight_of_ones = 0, number_of_zeros = 0;
  for (const WeightedCell& cell : cells_) {
    const bool one = (cell.key & 1) != 0;
    result.log_loss += cell.weight * log_loss(probability_of(cell.key), one);
    result.brier += cell.weight * squared_error(probability_of(cell.key), one);
    weight += cell.weight;
    (one ? weight_of_ones : number_of_zeros) += one ? cell.weight : 1;
    logits.push_back(logit_of(probability_of(cell.key)));
    weights.push_back(cell.weight);
    outcomes.push_back(one ? 1 : 0);
  }
  const std::optional<CalibrationMap> map = fit_line(logits, outcomes, weights);
  result.calibration_slope = map ? map->slope() : none;
  result.calibration_intercept = map ? map->intercept() : none;
  result.misplaced = none;
  const double share = weight_of_ones / weight;
  const double of_constant = -share * std::log(share) - (1 - share) * std::log1p(-share);
  result.log_loss /= weight;
  result.brier /= weight;
  result.skill = share > 0 && share < 1 ? 1 - result.log_loss / of_constant : none;
  result.zero_weight = number_of_zeros > 0 ? (weight - weight_of_ones) / number_of_zeros : none;
  if (cells == 0) result.test_log_loss = result.test_brier = result.test_calibration_error = none;
  if (cells_.empty()) result.log_loss = result.brier = none;
  return result;
}

}  // namespace ztp
