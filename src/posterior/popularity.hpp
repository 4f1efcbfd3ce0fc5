// What popularity alone predicts: the baseline beside every score.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "posterior/queries.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Training ones of each entity, by mode.
class Popularity {
 public:
  explicit Popularity(const Dataset& data);

  // By a model in which modes are independent: 1 - exp(-N prod_k d_k / N), d_k the ones of the cell's entity of mode k.
  double probability(const std::uint32_t* cell) const;
  double ones() const { return ones_; }
  double ones_of(std::size_t mode, std::uint32_t entity) const { return degrees_[mode][entity]; }

 private:
  double ones_ = 0;
  std::vector<std::vector<double>> degrees_;
};

// Scores of all entities of a mode for ranking queries: how many training ones an entity has together with each entity
// that is given, summed over these. Entities with the same sum are ordered by all of their ones.
class PopularCandidates {
 public:
  PopularCandidates(const Dataset& data, const Popularity& popularity, const Queries& queries);
  // score: one number for each entity of the mode.
  void score(std::size_t query, std::span<float> score) const;

 private:
  // Of an entity that some query gives: the entities of the mode that share ones with it, once for each.
  using Partners = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;
  const Queries& queries_;
  std::vector<Partners> of_given_;  // by the place of a mode among the given ones
  std::vector<float> fraction_;     // of all of an entity's ones: below 1, to order equal sums
};

}  // namespace ztp
