#include "model/open_rates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/rates.hpp"

namespace ztp {

double ColumnRates::of(const float* row) const {
  constexpr std::size_t width = 8;  // sums side by side
  float sums[width] = {}, z = 0;
  std::size_t q = 0;
  for (; q + width <= weight.size(); q += width)
    for (std::size_t l = 0; l < width; ++l) sums[l] += row[q + l] * weight[q + l];
  for (; q < weight.size(); ++q) z += row[q] * weight[q];
  for (const float part : sums) z += part;
  return scale * static_cast<double>(z);
}

OpenRates::OpenRates(const FactorLayout& layout, const std::vector<double>& log_weight) : layout_(&layout) {
  RelativeWeights relative(log_weight);
  weight_ = std::move(relative.weight);
  scale_ = std::exp(relative.log_largest - log_volume(layout));
}

void OpenRates::give(std::size_t k, const float* row) {
  for (std::size_t x = 0; x < weight_.size(); ++x) weight_[x] *= static_cast<double>(row[column(k, x)]);
}

OpenRates OpenRates::given_own(std::size_t k, std::uint32_t j) const {
  OpenRates result = *this;
  result.weight_.clear();
  result.component_.clear();
  result.scale_ *= static_cast<double>(layout_->size_of_mode(k).rows);
  for (std::size_t x = 0; x < weight_.size(); ++x) {
    if (column(k, x) != j) continue;
    result.weight_.push_back(weight_[x]);
    result.component_.push_back(component_.empty() ? static_cast<std::uint32_t>(x) : component_[x]);
  }
  return result;
}

ColumnRates OpenRates::columns(std::size_t k) const {
  // Smaller weights, relative to the largest, are zero: their products would be denormal floats, which are slow.
  constexpr double negligible = 1e-30;
  std::vector<double> sums(layout_->size_of_mode(k).columns, 0.0);
  for (std::size_t x = 0; x < weight_.size(); ++x) sums[column(k, x)] += weight_[x];
  const double largest = *std::max_element(sums.begin(), sums.end());
  ColumnRates rates{std::vector<float>(sums.size(), 0.0f), scale_ * largest};
  for (std::size_t q = 0; q < sums.size(); ++q)
    if (sums[q] > negligible * largest) rates.weight[q] = static_cast<float>(sums[q] / largest);
  return rates;
}

GroupedRates OpenRates::columns_by_entity(std::size_t k, std::size_t h) const {
  const std::size_t entities = layout_->size_of_mode(h).rows;
  const double largest = weight_.empty() ? 0 : *std::max_element(weight_.begin(), weight_.end());
  GroupedRates rates{{}, std::vector<std::size_t>(entities + 1, 0), scale_ * largest};
  std::vector<std::vector<GroupedRates::Term>> of_entity(entities);
  for (std::size_t x = 0; x < weight_.size(); ++x)
    if (weight_[x] > 0)
      of_entity[column(h, x)].push_back(
          {static_cast<std::uint32_t>(column(k, x)), static_cast<float>(weight_[x] / largest)});
  for (std::size_t j = 0; j < entities; ++j) {
    rates.terms.insert(rates.terms.end(), of_entity[j].begin(), of_entity[j].end());
    rates.begin[j + 1] = rates.terms.size();
  }
  return rates;
}

double GroupedRates::largest(const float* row) const {
  float most = 0;
  for (std::size_t j = 0; j + 1 < begin.size(); ++j) {
    float sum = 0;
    for (std::size_t x = begin[j]; x < begin[j + 1]; ++x) sum += terms[x].weight * row[terms[x].column];
    most = std::max(most, sum);
  }
  return scale * static_cast<double>(most);
}

double OpenRates::of_both(std::size_t k, std::size_t l, const float* row) const {
  double sum = 0;
  for (std::size_t x = 0; x < weight_.size(); ++x)
    sum += weight_[x] * static_cast<double>(row[column(k, x)]) * static_cast<double>(row[column(l, x)]);
  return scale_ * sum;
}

double OpenRates::rate() const {
  return scale_ * std::accumulate(weight_.begin(), weight_.end(), 0.0);
}

}  // namespace ztp
