// Columns and the core, where components share columns. Which component is which has no meaning there: a component
// without counts may be anywhere in the next draw. Its columns say what it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "posterior/posterior_impl.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct WeightSummary {
  double mean, q05, q95;
};

// Of the values in some of D draws; in the others it is zero.
WeightSummary summary_of(std::vector<float> values, std::size_t D) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(D);
  values.resize(D, 0.0f);
  std::sort(values.begin(), values.end());
  return {mean, quantile(values.data(), D, 0.05), quantile(values.data(), D, 0.95)};
}

template <class Item>
void sort_by_weight(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.weight > b.weight; });
}

}  // namespace

std::vector<Column> Posterior::columns(std::size_t mode, std::size_t top, std::size_t chain) {
  impl_->require_shared_columns("columns");
  if (mode >= impl_->modes.size())
    throw Error(ErrorKind::usage, fmt::format("columns: there is no mode {} (from 0)", mode));
  const FactorLayout& layout = impl_->layout;
  const std::vector<std::size_t> mine = impl_->draws_of(chain);
  std::vector<std::vector<float>> weights(layout.size_of_mode(mode).columns);
  for (const std::size_t i : mine) {
    std::vector<double> of_column(weights.size(), 0.0);
    const std::vector<double> log_weight = impl_->draws.log_weights(i);
    for (std::size_t k = 0; k < layout.modes(); ++k) {
      if (layout.matrix(k) != layout.matrix(mode)) continue;
      const std::vector<std::uint32_t> columns = impl_->draws.columns(i, k);
      for (std::size_t r = 0; r < columns.size(); ++r) of_column[columns[r]] += std::exp(log_weight[r]);
    }
    for (std::size_t q = 0; q < weights.size(); ++q) weights[q].push_back(static_cast<float>(of_column[q]));
  }
  const Matrix<float> u = impl_->mean_factor(chain, mode);
  std::vector<Column> result;
  for (std::size_t q = 0; q < weights.size(); ++q) {
    const WeightSummary weight = summary_of(std::move(weights[q]), mine.size());
    result.push_back({q + 1, weight.mean, weight.q05, weight.q95, none, top_entities(u, q, top)});
  }
  sort_by_weight(result);
  return result;
}

std::vector<CoreEntry> Posterior::core(std::size_t chain) {
  impl_->require_shared_columns("core");
  const std::size_t K = impl_->layout.modes();
  const std::vector<std::size_t> mine = impl_->draws_of(chain);
  std::map<std::vector<std::size_t>, std::vector<float>> weights;  // by columns, in the draws that have any
  for (const std::size_t i : mine) {
    const std::vector<double> log_weight = impl_->draws.log_weights(i);
    std::vector<std::vector<std::uint32_t>> columns;
    for (std::size_t k = 0; k < K; ++k) columns.push_back(impl_->draws.columns(i, k));
    std::map<std::vector<std::size_t>, double> of_draw;
    std::vector<std::size_t> entry(K);
    for (std::size_t r = 0; r < log_weight.size(); ++r) {
      for (std::size_t k = 0; k < K; ++k) entry[k] = columns[k][r] + std::size_t{1};
      of_draw[entry] += std::exp(log_weight[r]);
    }
    for (const auto& [of_entry, weight] : of_draw) weights[of_entry].push_back(static_cast<float>(weight));
  }
  std::vector<CoreEntry> result;
  for (auto& [entry, of_draws] : weights) {
    const WeightSummary weight = summary_of(std::move(of_draws), mine.size());
    if (weight.mean >= weight_of_empty) result.push_back({entry, weight.mean, weight.q05, weight.q95, none});
  }
  sort_by_weight(result);
  return result;
}

}  // namespace ztp
