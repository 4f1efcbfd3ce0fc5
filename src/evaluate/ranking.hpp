// Ranking metrics of one query and their sums (docs/model.md, section 12).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ztp/ranking.hpp"

namespace ztp {

// Test ones of a query that have the same score, and how many rivals (candidates) have a higher or an equal one.
struct TiedOnes {
  std::uint64_t ones = 0;   // at least 1
  std::uint64_t above = 0;  // rivals with a higher score
  std::uint64_t equal = 0;  // rivals with the same score
};

// The ranks of the test ones of a query among its rivals, best first. `score` has one value for each entity; it is
// overwritten for entities that do not compete: the tests and the known ones. Cost: the number of entities, times the
// logarithm of the number of tests for those with a high score.
std::vector<TiedOnes> tied_ones(std::span<float> score, std::span<const std::uint32_t> tests,
                                std::span<const std::uint32_t> known);

// The same where scores come block by block, those of the tests first.
class Standings {
 public:
  explicit Standings(std::vector<float> of_tests);
  // The entities from `first` on; those that are no rivals are overwritten.
  void add(std::span<float> score, std::size_t first, std::span<const std::uint32_t> tests,
           std::span<const std::uint32_t> known);
  std::vector<TiedOnes> finish();  // after the last block, once

 private:
  std::vector<float> levels_;  // distinct scores of tests, best first
  std::vector<TiedOnes> groups_;
};

// Sums of probabilities below this are taken as equal: much further down floats would lose digits, and then the order.
inline constexpr float smallest_score = 1e-25f;

// The same from the place of each test one, in any order: its score, at least smallest_score, and its rivals.
struct OnePlace {
  float score;
  std::uint32_t above, equal;
};
std::vector<TiedOnes> tied_ones(std::vector<OnePlace> places);

struct RankingSums {
  std::uint64_t ranks = 0, queries = 0;
  double reciprocal = 0, rank = 0;
  std::vector<double> hits, recall, ndcg;  // for each k
  void add(const RankingSums& other);
  RankingMetrics means() const;  // NaN without a query
};

class RankingMeter {
 public:
  explicit RankingMeter(std::vector<std::uint32_t> at);
  // Best scores first.
  RankingSums query(std::span<const TiedOnes> groups) const;

 private:
  std::vector<std::uint32_t> at_;
  std::vector<double> gain_;  // gain_[p]: of test ones in all of the places 1..p
};

}  // namespace ztp
