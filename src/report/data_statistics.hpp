// The numbers by which a posterior predictive check compares data with replicates: degrees, shared contexts of pairs,
// and changes along an ordered mode. Each is a function of one data set alone, so that none of them is chosen to suit
// the data.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/pool.hpp"
#include "io/dataset_ones.hpp"

namespace ztp {

// Passes all cells of a data set to use(), in chunks and in any order. A cell may come several times, as often as its
// count is.
using CellSource = std::function<void(const UseOnes& use)>;

// How many things have each value, ascending: much shorter than the list of all values.
using Histogram = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// A context of mode k is one entity of each other mode. Two entities of mode k share it if both have a one there.
inline constexpr std::size_t most_paired = 200;  // entities of a mode whose pairs are counted: those with most ones

// What is counted. On large data it is counted in a part of the contexts: those whose hash is below a bound, which are
// the same in all data sets.
struct StatisticsPlan {
  struct OrderedMode {
    std::size_t mode;
    std::vector<std::uint32_t> place;  // of each entity in the order of the mode
    double share;                      // of the contexts
  };
  std::vector<std::uint32_t> sizes;  // of the modes
  std::vector<double> pair_share;    // by mode: of the contexts
  std::vector<OrderedMode> ordered;  // modes of at most most_in_a_line entities
};

// The part of the contexts that keeps about 100,000 of so many ones.
double share_of_contexts(std::uint64_t ones);

// Ones at consecutive entities t and t + 1 of an ordered mode, for each t.
struct Changes {
  std::vector<std::uint64_t> stay;       // contexts with a one at both
  std::vector<std::uint64_t> appear;     // at t + 1 only
  std::vector<std::uint64_t> disappear;  // at t only
};

struct DataStatistics {
  std::vector<Histogram> degrees;  // by mode: entities by ones (counts: by the sum of their counts)
  std::vector<Histogram> pairs;    // by mode: pairs of the most_paired entities with most ones, by shared contexts
  std::vector<Changes> changes;    // of each ordered mode of the plan
};

// O(K ones), and for each mode a sort of at most about 100,000 ones and 100 increments for each of them.
DataStatistics statistics_of(const CellSource& cells, const StatisticsPlan& plan, Pool& pool);

}  // namespace ztp
