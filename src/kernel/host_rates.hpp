// Rates whose factors are in the memory of the host, mode by mode: what the kernels that compute there multiply.
#pragma once
#include <memory>
#include <vector>

#include "kernel/host_arrays.hpp"

namespace ztp {

// z = scale sum_r weight[r] prod_k factor(k, i_k, r).                                                            (M2)
struct HostRates {
  HostRates() = default;
  // Where components share columns, each column is copied for every component that uses it, if these copies fit in
  // cache or `expand` asks for them. Else factors are gathered.
  explicit HostRates(const Rates& rates, bool expand = false);

  float factor(std::size_t k, std::size_t j, std::size_t r) const {
    return u[k]->row(j)[column.empty() ? r : static_cast<std::size_t>(column[k][r])];
  }

  std::size_t R = 0;
  std::vector<const Matrix<float>*> u;            // of each mode
  std::vector<std::vector<std::int32_t>> column;  // [k][r], padded: of each component in u[k]; empty: column r
  std::vector<float> weight;                      // R, padded with zeros
  std::vector<double> log_weight;                 // as in Rates
  double scale = 0;
  double log_volume = 0;

 private:
  std::shared_ptr<std::vector<Matrix<float>>> expanded_;  // of each mode
};

// The parts of a cell's rate that the components have. Returns their sum, z.                                     (M2)
double rate_parts(const HostRates& rates, const std::uint32_t* cell, double* parts);

}  // namespace ztp
