// Rates whose factors are in the memory of the host, mode by mode: what the kernels that compute there multiply.
#pragma once
#include <memory>
#include <vector>

#include "kernel/host_arrays.hpp"

namespace ztp {

// z = scale sum_r weight[r] prod_k u[k][i_k, r].                                                                 (M2)
struct HostRates {
  HostRates() = default;
  // Where components share columns, each column is copied for every component that uses it.
  explicit HostRates(const Rates& rates);

  std::size_t R = 0;
  std::vector<const Matrix<float>*> u;  // of each mode
  std::vector<float> weight;            // R, padded with zeros
  std::vector<double> log_weight;       // as in Rates
  double scale = 0;
  double log_volume = 0;

 private:
  std::shared_ptr<std::vector<Matrix<float>>> expanded_;  // of each mode
};

// The parts of a cell's rate that the components have. Returns their sum, z.                                     (M2)
double rate_parts(const HostRates& rates, const std::uint32_t* cell, double* parts);

}  // namespace ztp
