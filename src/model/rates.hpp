// The rate of a cell, in the one form that everything computes it from: Kernel::score and score_parts, and OpenRates
// where a mode is open.
//   z = scale sum_r weight[r] prod_k U^t(k)[i_k, c(r, k)],  U = n u, as factors are stored; the largest weight: 1  (M2)
#pragma once
#include <cstddef>
#include <vector>

#include "model/state.hpp"

namespace ztp {

// exp(log_weight), relative to the largest of them.
struct RelativeWeights {
  explicit RelativeWeights(const std::vector<double>& log_weight);
  std::vector<double> weight;  // at most one
  double log_largest = 0;      // 0 where all weights are zero
};

struct Rates {
  const FactorLayout* layout = nullptr;
  std::vector<const Factors*> factors;  // of each matrix of the layout
  std::vector<float> weight;            // R, padded with zeros
  std::vector<double> log_weight;       // R, of the unscaled weights: where a rate underflows, shares come from logs
  double scale = 0;
  double log_volume = 0;  // sum_k log n_k
  double total = 0;       // sum_r of the unscaled weights: the rate of all cells together

  std::size_t R() const { return log_weight.size(); }
  std::size_t modes() const { return layout->modes(); }
};

// sum_k log n_k
double log_volume(const FactorLayout& layout);
// With weights of `factor` times exp(log_weight). Refers to layout and factors.
Rates make_rates(const FactorLayout& layout, std::vector<const Factors*> factors, const std::vector<double>& log_weight,
                 double factor = 1);
// Of the cells of the tensor.
Rates tensor_rates(const State& state);

}  // namespace ztp
