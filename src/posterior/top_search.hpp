// The k most probable cells among the products of candidate entities: exact branch and bound.
//
// The score of a cell is the mean over draws of 1 - exp(-z). All factors are non-negative, so z grows in every factor: with an
// open mode's factors replaced by their largest values over its candidates, component by component, the score becomes an upper
// bound for every way to complete the cell. A branch whose bound is below the k-th best cell so far holds nothing better.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "base/pool.hpp"

namespace ztp {

// One open mode, cut down to its candidates: rows[c * width + x] with x running over (draw, component).
struct OpenMode {
  std::size_t mode = 0;            // which mode of the tensor
  std::vector<std::uint32_t> ids;  // its candidates
  std::vector<float> rows;         // candidates x width
  std::vector<float> largest;      // width: over the candidates
};

// The cells to search. The rate of one at draw d is scale[d] sum_r weight[d, r] prod over the open modes of its rows.
struct OpenCells {
  std::size_t R = 0;
  std::vector<OpenMode> open;
  std::vector<float> weight;        // draws x R: what the given modes fix
  std::vector<double> scale;        // of each draw
  std::vector<std::uint32_t> cell;  // the entities of the given modes, anything where a mode is open
};

struct ScoredCell {
  double score = 0;
  std::vector<std::uint32_t> cell;
};

class TopSearch {
 public:
  TopSearch(OpenCells cells, std::size_t top, Pool& pool);

  // Cells for which skip() is true do not count. Best first.
  std::vector<ScoredCell> run(const std::function<bool(const std::uint32_t*)>& skip);

 private:
  void descend(std::size_t level, const std::vector<float>& weight);
  std::vector<double> bounds(std::size_t level, const std::vector<float>& weight) const;
  void offer(double score);

  std::size_t R_;
  std::vector<OpenMode> open_;
  std::vector<float> weight_;
  std::vector<double> scale_;
  std::vector<std::uint32_t> cell_;  // the given entities, and the chosen ones while descending
  std::size_t top_;
  Pool& pool_;
  const std::function<bool(const std::uint32_t*)>* skip_ = nullptr;
  std::vector<ScoredCell> best_;  // a heap, the worst of the best on top
};

// Mean over draws of 1 - exp(-scale[d] * sum_r a[d, r] b[d, r]).
double mean_probability(const float* a, const float* b, const std::vector<double>& scale, std::size_t R);

// Bounds are sums of rounded floats: they are raised by this much before anything is cut off.
inline constexpr double bound_slack = 1 + 1e-4;

}  // namespace ztp
