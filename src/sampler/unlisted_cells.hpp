// Latent counts of missing cells that no list names: missing slices, and cells (i, i) of two modes that share a matrix.
// Drawn one by one, with their coordinates, on the host: what moves of components between columns need.
#pragma once
#include <cstdint>
#include <vector>

#include "sampler/latent_parts.hpp"
#include "sampler/problem.hpp"

namespace ztp {

class UnlistedCells {
 public:
  explicit UnlistedCells(const Problem& problem);

  bool empty() const { return !has_slices_ && !problem_.self_missing; }
  // Reads the state, adds to `parts`, O(R sum_k n_k) and O(log n) a count. Returns the rate of all these cells.  (M51)
  double draw(const State& state, std::uint32_t chain, std::uint32_t t, LatentParts& parts) const;

 private:
  bool in_slice(std::size_t k, std::size_t j) const { return !in_slice_[k].empty() && in_slice_[k][j] != 0; }

  const Problem& problem_;
  bool has_slices_ = false;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // of each mode with missing slices, one for each missing entity
};

}  // namespace ztp
