// The k most probable cells among the products of candidate entities: exact branch and bound.
//
// The score of a cell combines 1 - exp(-z) of all draws (ChainDraws). All factors are non-negative, so z grows in every
// factor: with an open mode's factors replaced by their largest values over its candidates, column by column, the score
// becomes an upper bound for every way to complete the cell. A branch whose bound is below the k-th best cell so far
// holds nothing better. One-hot modes come first: given one of its entities, only the components of that entity are
// left.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/pool.hpp"
#include "evaluate/chain_average.hpp"
#include "model/open_rates.hpp"

namespace ztp {

// One open mode, cut down to its candidates: rows of its matrix in all draws.
struct OpenMode {
  std::size_t mode = 0;            // which mode of the tensor
  std::size_t columns = 0;         // P of its matrix
  std::vector<std::uint32_t> ids;  // its candidates, ascending
  std::vector<float> rows;         // candidates x draws x P; empty for a one-hot mode
  std::vector<float> largest;      // draws x P: over the candidates
  bool one_hot = false;            // its matrix is the identity
  std::size_t all = 0;             // not 0: there is no list, and the candidates are all of so many entities

  std::size_t size() const { return all != 0 ? all : ids.size(); }
  std::uint32_t id(std::size_t c) const { return all != 0 ? static_cast<std::uint32_t>(c) : ids[c]; }
};

// The cells to search.
struct OpenCells {
  std::vector<OpenMode> open;
  std::vector<FactorLayout> layouts;  // of each draw; rates refer to them
  std::vector<OpenRates> rates;       // at each draw, with all modes given that are not open
  std::vector<std::uint32_t> cell;    // the entities of the given modes, anything where a mode is open
  const ChainDraws* chains = nullptr;
};

struct ScoredCell {
  double score = 0;
  std::vector<std::uint32_t> cell;
};

class TopSearch {
 public:
  // distinct: at most one cell is found for each entity of this open mode, its best one.
  TopSearch(OpenCells cells, std::size_t top, Pool& pool, std::optional<std::size_t> distinct = std::nullopt);

  // Cells for which skip() is true do not count. Best first.
  std::vector<ScoredCell> run(const std::function<bool(const std::uint32_t*)>& skip);

 private:
  static void give(const OpenMode& mode, std::size_t c, const std::vector<OpenRates>& rates,
                   std::vector<OpenRates>& given);
  void descend(std::size_t level, const std::vector<OpenRates>& rates);
  std::vector<double> bounds(std::size_t level, const std::vector<OpenRates>& rates) const;
  void offer(double score);
  void keep(ScoredCell cell);
  void drop_worst();
  bool replace_same_entity(ScoredCell& cell);

  OpenCells cells_;  // its cell has the chosen entities while descending
  std::size_t top_;
  Pool& pool_;
  std::optional<std::size_t> distinct_;
  std::unordered_set<std::uint32_t> entities_;  // with a cell among the best, of the distinct mode
  const std::function<bool(const std::uint32_t*)>* skip_ = nullptr;
  std::vector<ScoredCell> best_;  // a heap, the worst of the best on top
};

// Bounds are sums of rounded floats: they are raised by this much before anything is cut off.
inline constexpr double bound_slack = 1 + 1e-4;

}  // namespace ztp
