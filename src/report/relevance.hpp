// Which entities a list of a component shows, when the reader may choose between frequent entities and those that are its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ztp {

// An entity of a mode, and what it is to a component.
struct EntityPart {
  std::uint32_t id = 0;
  double value = 0;    // u: its part of the component
  double overall = 0;  // its part of all components together
};

// sum_r lambda_r u_jr / sum_r lambda_r of the row of an entity.
double overall_part(const float* row, const std::vector<double>& weights);

// Sievert and Shirley (2014): weight log(u) + (1 - weight) log(u / overall). One: by u alone; zero: by how much more the component has of
// the entity than all have.
double relevance(const EntityPart& part, double weight);

// Those of these entities that are among the first `count` at some weight 0, 0.1, ..., 1; by value.
std::vector<EntityPart> first_by_relevance(const std::vector<EntityPart>& parts, std::size_t count);

// The mean of u is (a + s) / (n a + S), with a of the prior, s counts of the entity and S of all n entities of the mode. What the prior alone gives
// to a rare entity can be many times its part of all components, and would be first at a small weight: so entities are listed that have
// half a count of their own, s >= 1/2, as a component has that is not empty. If no entity has a whole count, half of the largest s is enough.
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
