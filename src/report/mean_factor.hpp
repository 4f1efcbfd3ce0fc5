// The mean factor of a mode in one chain, column by column: in CP, those of components.
#pragma once
#include <cstdint>
#include <vector>

#include "model/factor_layout.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// The factor matrices of a run. Where components share columns, which of them they use differs from draw to draw.
FactorLayout layout_of(const Posterior& posterior);

class MeanFactor {
 public:
  MeanFactor(Posterior& posterior, std::size_t mode, std::size_t chain);

  std::size_t entities() const { return u_.size() / P_; }
  // u of an entity in column q, from 0.
  float operator()(std::uint32_t id, std::size_t q) const { return u_[id * P_ + q]; }
  // sum_q weights[q] u of an entity: with the weights of all columns, its expected counts.
  double weighted_sum(std::uint32_t id, const std::vector<double>& weights) const;
  // For each of these columns the entities with the largest u, at most `count`, largest first.
  std::vector<std::vector<std::uint32_t>> top(const std::vector<std::size_t>& columns, std::size_t count) const;

 private:
  std::size_t P_;
  std::vector<float> u_;  // entities x P
};

}  // namespace ztp
