// Columns and the core, where components share columns. Which component is which has no meaning there: a component
// without counts may be anywhere in the next draw. Its columns say what it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

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

// The components of all draws of a chain, with their columns and weights.
class ComponentsOfDraws {
 public:
  ComponentsOfDraws(const DrawsFile& file, const std::vector<std::size_t>& draws, std::size_t K) : K_(K) {
    for (const std::size_t i : draws) {
      const std::vector<double> log_weight = file.log_weights(i);
      std::vector<std::vector<std::uint32_t>> columns;
      for (std::size_t k = 0; k < K; ++k) columns.push_back(file.columns(i, k));
      for (std::size_t r = 0; r < log_weight.size(); ++r) {
        for (std::size_t k = 0; k < K; ++k) columns_.push_back(columns[k][r]);
        weight_.push_back(std::exp(log_weight[r]));
      }
      ends_.push_back(weight_.size());
    }
  }

  void for_entries(const std::function<void(const std::uint32_t*, std::vector<float>)>& use) const {
    std::vector<std::uint32_t> order(weight_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto columns = [&](std::uint32_t x) { return columns_.data() + std::size_t{x} * K_; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto order_of_columns =
          std::lexicographical_compare_three_way(columns(a), columns(a) + K_, columns(b), columns(b) + K_);
      return order_of_columns != 0 ? order_of_columns < 0 : a < b;
    });
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
      while (end < order.size() && std::equal(columns(order[end]), columns(order[end]) + K_, columns(order[first])))
        ++end;
      use(columns(order[first]), weights_in_draws({order.begin() + static_cast<std::ptrdiff_t>(first), end - first}));
    }
  }

 private:
  // Of an entry, whose components are given in the order of draws: the sum in each draw that has any.
  std::vector<float> weights_in_draws(std::span<const std::uint32_t> components) const {
    std::vector<float> weights;
    for (std::size_t x = 0; x < components.size();) {
      const std::size_t end = *std::upper_bound(ends_.begin(), ends_.end(), components[x]);
      double sum = 0;
      for (; x < components.size() && components[x] < end; ++x) sum += weight_[components[x]];
      weights.push_back(static_cast<float>(sum));
    }
    return weights;
  }

  std::size_t K_;
  std::vector<std::uint32_t> columns_;  // components x K
  std::vector<double> weight_;
  std::vector<std::size_t> ends_;  // of each draw: the component after its last
};

}  // namespace

std::vector<std::vector<float>> Posterior::Impl::column_weights(std::size_t chain, std::size_t mode) const {
  std::vector<std::vector<float>> weights(layout.size_of_mode(mode).columns);
  for (const std::size_t i : draws_of(chain)) {
    std::vector<double> of_column(weights.size(), 0.0);
    const std::vector<double> log_weight = draws.log_weights(i);
    for (std::size_t k = 0; k < layout.modes(); ++k) {
      if (layout.matrix(k) != layout.matrix(mode)) continue;
      const std::vector<std::uint32_t> columns = draws.columns(i, k);
      for (std::size_t r = 0; r < columns.size(); ++r) of_column[columns[r]] += std::exp(log_weight[r]);
    }
    for (std::size_t q = 0; q < weights.size(); ++q) weights[q].push_back(static_cast<float>(of_column[q]));
  }
  return weights;
}

std::vector<CoreEntry> Posterior::Impl::core_without_stability(std::size_t chain) const {
  const std::vector<std::size_t> mine = draws_of(chain);
  const std::size_t K = layout.modes();
  std::vector<CoreEntry> result;
  ComponentsOfDraws(draws, mine, K).for_entries([&](const std::uint32_t* columns, std::vector<float> of_draws) {
    const WeightSummary weight = summary_of(std::move(of_draws), mine.size());
    if (weight.mean < weight_of_empty) return;
    result.push_back({{columns, columns + K}, weight.mean, weight.q05, weight.q95, none});
    for (std::size_t& column : result.back().columns) ++column;
  });
  sort_by_weight(result);
  return result;
}

void Posterior::Impl::find_core_weights(std::size_t chain, CoreWeights& weights) const {
  const std::vector<std::size_t> mine = draws_of(chain);
  const std::size_t K = layout.modes();
  std::vector<std::size_t> entry(K);
  ComponentsOfDraws(draws, mine, K).for_entries([&](const std::uint32_t* columns, std::vector<float> of_draws) {
    for (std::size_t k = 0; k < K; ++k) entry[k] = columns[k] + std::size_t{1};
    if (const auto found = weights.find(entry); found != weights.end())
      found->second = summary_of(std::move(of_draws), mine.size()).mean;
  });
}

std::vector<Column> Posterior::columns(std::size_t mode, std::size_t top, std::size_t chain) {
  impl_->require_shared_columns("columns");
  impl_->require_mode("columns", mode);
  const Matching matching = match_columns(mode, chain);
  std::vector<std::vector<float>> weights = impl_->column_weights(chain, mode);
  const Matrix<float> u = impl_->mean_factor(chain, mode);
  std::vector<Column> result;
  for (std::size_t q = 0; q < weights.size(); ++q) {
    const std::size_t D = weights[q].size();
    const WeightSummary weight = summary_of(std::move(weights[q]), D);
    result.push_back(
        {q + 1, weight.mean, weight.q05, weight.q95, matching.components[q].stability, top_entities(u, q, top)});
  }
  sort_by_weight(result);
  return result;
}

std::vector<CoreEntry> Posterior::core(std::size_t chain) {
  impl_->require_shared_columns("core");
  std::vector<CoreEntry> result = impl_->core_without_stability(chain);
  std::vector<double> agreement(result.size(), 0.0);
  const std::vector<std::size_t> all = chains();
  for (const std::size_t other : all) {
    if (other == chain) continue;
    const std::vector<CoreMatch> matches = match_core(chain, *this, other);  // in the same order
    for (std::size_t e = 0; e < matches.size(); ++e) agreement[e] += matches[e].agreement;
  }
  for (std::size_t e = 0; e < result.size(); ++e)
    if (all.size() > 1) result[e].stability = agreement[e] / static_cast<double>(all.size() - 1);  // (M58)
  return result;
}

}  // namespace ztp
