#include "model/rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ztp {

RelativeWeights::RelativeWeights(const std::vector<double>& log_weight) {
  log_largest = *std::max_element(log_weight.begin(), log_weight.end());
  if (log_largest == -std::numeric_limits<double>::infinity()) log_largest = 0;
  for (const double value : log_weight) weight.push_back(std::exp(value - log_largest));
}

double log_volume(const FactorLayout& layout) {
  double sum = 0;
  for (std::size_t k = 0; k < layout.modes(); ++k) sum += std::log(static_cast<double>(layout.size_of_mode(k).rows));
  return sum;
}

Rates make_rates(const FactorLayout& layout, std::vector<const Factors*> factors, const std::vector<double>& log_weight,
                 double factor) {
  Rates rates;
  rates.layout = &layout;
  rates.factors = std::move(factors);
  // Of whole matrices, where the factors are some of their rows.
  for (std::size_t k = 0; k < layout.modes(); ++k)
    rates.log_volume += std::log(static_cast<double>(rates.factors[layout.matrix(k)]->all_rows()));
  const RelativeWeights relative(log_weight);
  rates.weight.assign(padded(log_weight.size()), 0.0f);
  for (std::size_t r = 0; r < log_weight.size(); ++r) {
    rates.weight[r] = static_cast<float>(relative.weight[r]);
    rates.log_weight.push_back(log_weight[r] + std::log(factor));
    rates.total += std::exp(rates.log_weight[r]);
  }
  rates.scale = factor * std::exp(relative.log_largest - rates.log_volume);
  return rates;
}

Rates tensor_rates(const State& state) {
  std::vector<const Factors*> factors;
  for (const auto& matrix : state.factors) factors.push_back(matrix.get());
  return make_rates(state.layout, std::move(factors), state.tensor.log_weight);
}

}  // namespace ztp
