// Rates of cells of which some modes are given and the others are open.
//   z = scale sum_r weight[r] prod over the open modes k of U^t(k)[i_k, c(r, k)],   U = n u as in Rates    (M2)
// lambda_r and the factors of the given modes are in weight[r].
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/factor_layout.hpp"

namespace ztp {

// The same where one mode is open: z = scale sum_q weight[q] U[j, q] over the columns q of its matrix. The weights of
// components that share a column are added up.
struct ColumnRates {
  std::vector<float> weight;  // P; the largest is one, so that floats hold what matters; those below 1e-30 are zero
  double scale = 0;

  double of(const float* row) const;  // z, from the row of an entity
  // z of entity j where the matrix is the identity, which is stored times n.
  double of_own(std::uint32_t j) const {
    return scale * static_cast<double>(weight[j]) * static_cast<double>(weight.size());
  }
};

// The same where a one-hot mode is open as well. A cell gets its rate from the components of one entity of that mode
// alone, so these have sums of their own.
struct GroupedRates {
  struct Term {
    std::uint32_t column;
    float weight;
  };
  std::vector<Term> terms;         // entity by entity of the one-hot mode
  std::vector<std::size_t> begin;  // of the terms of each entity; one more than there are entities
  double scale = 0;

  double largest(const float* row) const;  // z, over the entities of the one-hot mode
};

class OpenRates {
 public:
  // All modes are open. Refers to the layout.
  OpenRates(const FactorLayout& layout, const std::vector<double>& log_weight);

  // Mode k becomes given, by a row of its matrix: that of an entity, or the largest value of each column. Then the
  // rates are upper bounds, since no factor is negative.
  void give(std::size_t k, const float* row);
  // The same with entity j of a one-hot mode: only the components of that entity are left.
  OpenRates given_own(std::size_t k, std::uint32_t j) const;

  // The rate of each component r is multiplied by factor(r).
  template <class Factor>
  void multiply(const Factor& factor) {
    for (std::size_t x = 0; x < weight_.size(); ++x) weight_[x] *= factor(component_.empty() ? x : component_[x]);
  }

  // z, where modes k and l are open, and no other, with this row in both.
  double of_both(std::size_t k, std::size_t l, const float* row) const;
  ColumnRates columns(std::size_t k) const;                            // where mode k is open, and no other
  GroupedRates columns_by_entity(std::size_t k, std::size_t h) const;  // where modes k and h are, h a one-hot mode
  // z_r, where no mode is; not after given_own.
  double part(std::size_t r) const { return scale_ * weight_[r]; }
  double rate() const;  // z, likewise
  // Calls use(r, z_r) for the components that are left, where no mode is open.
  template <class Use>
  void for_parts(const Use& use) const {
    for (std::size_t x = 0; x < weight_.size(); ++x)
      use(component_.empty() ? x : std::size_t{component_[x]}, scale_ * weight_[x]);
  }

 private:
  std::size_t column(std::size_t k, std::size_t x) const {
    return layout_->column(k, component_.empty() ? x : component_[x]);
  }

  const FactorLayout* layout_;
  std::vector<double> weight_;            // of the components that are left
  std::vector<std::uint32_t> component_;  // which these are; empty: all
  double scale_;
};

}  // namespace ztp
