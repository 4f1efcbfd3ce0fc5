// Which entities the list of a component shows, where readers choose between frequent and characteristic entities.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/mean_factor.hpp"

namespace ztp {

// An entity of a mode, and what it is to a component.
struct EntityPart {
  std::uint32_t id = 0;
  double value = 0;    // u: its part of the component
  double overall = 0;  // its part of all components together
};

// sum_q w_q u_jq / sum_q w_q of an entity, with the weights of all columns: in CP w_r = lambda_r.
double overall_part(const MeanFactor& u, std::uint32_t id, const std::vector<double>& weights);

// Sievert and Shirley (2014): weight log(u) + (1 - weight) log(u / overall). Weight 1: by u alone; weight 0: by the
// ratio to all components together.
double relevance(const EntityPart& part, double weight);

// The entities that are among the first `count` at some weight 0, 0.1, ..., 1; by value.
std::vector<EntityPart> first_by_relevance(const std::vector<EntityPart>& parts, std::size_t count);

// The mean of u is (a + s) / (n a + S), with a of the prior, s counts of the entity and S of all n entities of the
// mode. The prior alone can give a rare entity many times its part of all components, and would rank it first at a
// small weight. So only entities with s >= 1/2 are listed, the same limit as for a component that is not empty. If no
// entity has a whole count, half of the largest s is enough.
class CountsBeyondPrior {
 public:
  CountsBeyondPrior(double prior, std::size_t entities, double counts)
      : prior_(prior), total_(prior * static_cast<double>(entities) + counts) {}
  double operator()(double u) const { return u * total_ - prior_; }
  static double least(double largest) { return largest > 1 ? 0.5 : largest > 0 ? largest / 2 : largest; }

 private:
  double prior_, total_;
};

}  // namespace ztp
