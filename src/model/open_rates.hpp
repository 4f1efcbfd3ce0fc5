// Rates of cells of which some modes are given and the others are open.
//   z = scale sum_r weight[r] prod over the open modes k of U^t(k)[i_k, c(r, k)],   U = n u as in Rates    (M2)
// lambda_r and the factors of the given modes are in weight[r].
#pragma once
#include <cstddef>
#include <vector>

#include "model/factor_layout.hpp"

namespace ztp {

// The same where one mode is open: z = scale sum_q weight[q] U[j, q] over the columns q of its matrix. The weights of
// components that share a column are added up.
struct ColumnRates {
  std::vector<float> weight;  // P; the largest is one, so that floats hold what matters; those below 1e-30 are zero
  double scale = 0;

  double of(const float* row) const;  // z, from the row of an entity
};

class OpenRates {
 public:
  // All modes are open. Refers to the layout.
  OpenRates(const FactorLayout& layout, const std::vector<double>& log_weight);

  // Mode k becomes given, by a row of its matrix: that of an entity, or the largest value of each column. Then the
  // rates are upper bounds, since no factor is negative.
  void give(std::size_t k, const float* row);

  ColumnRates columns(std::size_t k) const;                         // where mode k is open, and no other
  double part(std::size_t r) const { return scale_ * weight_[r]; }  // z_r, where no mode is
  double rate() const;                                              // z, likewise

 private:
  const FactorLayout* layout_;
  std::vector<double> weight_;  // R
  double scale_;
};

}  // namespace ztp
