// The mean factor of a mode in one chain, by component.
#pragma once
#include <cstdint>
#include <vector>

#include "model/factor_layout.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// Which columns of the factors the components of a run use.
FactorLayout layout_of(const Posterior& posterior);

class MeanFactor {
 public:
  MeanFactor(Posterior& posterior, std::size_t mode, std::size_t chain);

  std::size_t entities() const { return layout_.size_of_mode(mode_).rows; }
  // u of an entity in component r, from 0.
  float operator()(std::uint32_t id, std::size_t r) const { return u_[id * P_ + layout_.column(mode_, r)]; }
  // sum_r weights[r] u of an entity: with lambda, its expected counts.
  double weighted_sum(std::uint32_t id, const std::vector<double>& weights) const;
  // For each of these components the entities with the largest u, at most `count`, largest first.
  std::vector<std::vector<std::uint32_t>> top(const std::vector<std::size_t>& components, std::size_t count) const;

 private:
  FactorLayout layout_;
  std::size_t mode_, P_;
  std::vector<float> u_;  // entities x P
};

}  // namespace ztp
