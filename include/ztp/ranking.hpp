// How high the test ones stand among all entities that could take their place: the metrics of knowledge bases (filtered
// MRR, Hits@k) and of recommendation (recall@k, NDCG@k). docs/model.md, section 12, has the formulas.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace ztp {

// The largest k.
inline constexpr std::uint32_t most_places = 1000000;

// What to rank, and against what.
struct RankingOptions {
  std::vector<std::size_t> modes;               // whose entity is replaced; empty: each of them in turn
  std::vector<std::uint32_t> at = {1, 3, 10};   // the k of Hits@k, recall@k and NDCG@k
  std::vector<std::string> filter;              // files of further known ones, such as a validation set: no candidates
  std::size_t draws = 0;                        // at most this many, evenly spread; 0: all
  std::size_t memory = std::size_t{256} << 20;  // bytes for scores; fewer mean more passes over the draws
  std::function<void(double part)> progress;    // the part that is done, 0 to 1
};

// A query is a setting of all coordinates but that of the mode which is replaced. Candidates are the entities of the
// mode that are not known ones of the query: neither training ones, nor of a filter file, nor test ones.
struct RankingMetrics {
  std::uint64_t ranks = 0;    // test ones, each ranked among its candidates
  double mrr = 0;             // mean of 1 / rank; a rank is the mean of the optimistic and the pessimistic one
  double mean_rank = 0;       // from 1, the best
  std::vector<double> hits;   // for each k of `at`: the share of ranks that are at most k
  std::uint64_t queries = 0;  // distinct ones among the test ones
  // Means over queries, with candidates and test ones in one list; equal scores in random order, in expectation.
  std::vector<double> recall;  // test ones among the first k / test ones of the query
  std::vector<double> ndcg;    // with gain 1 / log2(1 + place), relative to the best order of the query's test ones
};

// A ranking metric as people and programs see it; the list of all of them is the one that 'ztp evaluate --ranking'
// prints.
struct RankingField {
  const char* key;    // in JSON
  const char* title;  // in a table; with @k behind it where there is one for each k
  int digits;         // there, after the point
  std::variant<std::uint64_t RankingMetrics::*, double RankingMetrics::*, std::vector<double> RankingMetrics::*> member;
};
// In the order in which they are printed.
std::span<const RankingField> ranking_fields();

// The result, for each mode and for all of them.
struct Ranking {
  std::vector<std::uint32_t> at;        // the k, as asked for
  std::size_t draws = 0;                // that were used
  std::uint64_t test_ones = 0;          // repeated ones count once
  std::vector<std::size_t> modes;       // whose entity was replaced
  std::vector<RankingMetrics> by_mode;  // in the order of `modes`
  RankingMetrics all;                   // over all ranks, and all queries, of these modes
  // The same by popularity: how many training ones an entity has together with those that are given; if these are
  // equal, how many in all.
  std::vector<RankingMetrics> popularity_by_mode;
  RankingMetrics popularity;
};

}  // namespace ztp
