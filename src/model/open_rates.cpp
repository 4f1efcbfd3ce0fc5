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
  for (std::size_t r = 0; r < weight_.size(); ++r) weight_[r] *= static_cast<double>(row[layout_->column(k, r)]);
}

ColumnRates OpenRates::columns(std::size_t k) const {
  // Smaller weights, relative to the largest, are zero: their products would be denormal floats, which are slow.
  constexpr double negligible = 1e-30;
  const std::vector<double> sums = layout_->column_sums(k, weight_);
  const double largest = *std::max_element(sums.begin(), sums.end());
  ColumnRates rates{std::vector<float>(sums.size(), 0.0f), scale_ * largest};
  for (std::size_t q = 0; q < sums.size(); ++q)
    if (sums[q] > negligible * largest) rates.weight[q] = static_cast<float>(sums[q] / largest);
  return rates;
}

double OpenRates::rate() const {
  return scale_ * std::accumulate(weight_.begin(), weight_.end(), 0.0);
}

}  // namespace ztp
