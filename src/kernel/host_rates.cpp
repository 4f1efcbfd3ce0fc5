#include "kernel/host_rates.hpp"

namespace ztp {

HostRates::HostRates(const Rates& rates)
    : R(rates.R()),
      weight(rates.weight),
      log_weight(rates.log_weight),
      scale(rates.scale),
      log_volume(rates.log_volume) {
  const FactorLayout& layout = *rates.layout;
  for (std::size_t k = 0; k < layout.modes(); ++k) u.push_back(&values_of(*rates.factors[layout.matrix(k)]));
  if (layout.columns_are_components()) return;
  expanded_ = std::make_shared<std::vector<Matrix<float>>>();
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    Matrix<float> wide(u[k]->rows(), R);
    for (std::size_t j = 0; j < wide.rows(); ++j)
      for (std::size_t r = 0; r < R; ++r) wide.row(j)[r] = u[k]->row(j)[layout.column(k, r)];
    expanded_->push_back(std::move(wide));
  }
  for (std::size_t k = 0; k < layout.modes(); ++k) u[k] = &(*expanded_)[k];
}

double rate_parts(const HostRates& rates, const std::uint32_t* cell, double* parts) {
  double sum = 0;
  for (std::size_t r = 0; r < rates.R; ++r) {
    parts[r] = rates.scale * static_cast<double>(rates.weight[r]);
    for (std::size_t k = 0; k < rates.u.size(); ++k) parts[r] *= static_cast<double>(rates.u[k]->row(cell[k])[r]);
    sum += parts[r];
  }
  return sum;
}

}  // namespace ztp
