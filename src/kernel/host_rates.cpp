#include "kernel/host_rates.hpp"

namespace ztp {

// Of each mode. They are read again and again, while gathering takes several times as long as loading.
constexpr std::size_t most_expanded_bytes = std::size_t{1} << 18;

HostRates::HostRates(const Rates& rates, bool expand)
    : R(rates.R()),
      weight(rates.weight),
      log_weight(rates.log_weight),
      scale(rates.scale),
      log_volume(rates.log_volume) {
  const FactorLayout& layout = *rates.layout;
  const std::size_t K = layout.modes();
  bool fits = true;
  for (std::size_t k = 0; k < K; ++k) {
    u.push_back(&values_of(*rates.factors[layout.matrix(k)]));
    fits = fits && Matrix<float>::bytes_of(u[k]->rows(), R) <= most_expanded_bytes;
  }
  if (layout.columns_are_components()) return;
  if (!fits && !expand) {
    for (std::size_t k = 0; k < K; ++k) {
      column.emplace_back(layout.columns_of_mode(k).begin(), layout.columns_of_mode(k).end());
      column.back().resize(padded(R), 0);
    }
    return;
  }
  expanded_ = std::make_shared<std::vector<Matrix<float>>>();
  for (std::size_t k = 0; k < K; ++k) {
    Matrix<float> wide(u[k]->rows(), R);
    for (std::size_t j = 0; j < wide.rows(); ++j)
      for (std::size_t r = 0; r < R; ++r) wide.row(j)[r] = u[k]->row(j)[layout.column(k, r)];
    expanded_->push_back(std::move(wide));
  }
  for (std::size_t k = 0; k < K; ++k) u[k] = &(*expanded_)[k];
}

double rate_parts(const HostRates& rates, const std::uint32_t* cell, double* parts) {
  double sum = 0;
  for (std::size_t r = 0; r < rates.R; ++r) {
    parts[r] = rates.scale * static_cast<double>(rates.weight[r]);
    for (std::size_t k = 0; k < rates.u.size(); ++k) parts[r] *= static_cast<double>(rates.factor(k, cell[k], r));
    sum += parts[r];
  }
  return sum;
}

}  // namespace ztp
