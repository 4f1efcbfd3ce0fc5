// Cells of the tensor, ones or missing ones, where components share columns. Where a mode is one-hot, the cells of each
// of its entities go to the kernel by themselves (model/entity_model.hpp).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/kernel.hpp"
#include "model/entity_model.hpp"
#include "sampler/latent_parts.hpp"

namespace ztp {

class TensorCells {
 public:
  // Refers to the cells and the kernel. O(count K).
  TensorCells(const HostCells& cells, const FactorLayout& layout, Kernel& kernel);

  // Latent counts at the state.                                                                            (M3), (M4)
  // Adds into the statistics and to `parts`. Returns what Kernel::allocate does.
  double allocate(const State& state, StreamKey key, const DrawSettings& settings, Statistics& statistics,
                  LatentParts& parts) const;
  // Every cell in a component that is uniform at random, among those of its entity of a one-hot mode.
  void allocate_at_random(const FactorLayout& layout, StreamKey key, Statistics& statistics) const;

 private:
  // The cells of an entity of the one-hot mode; all cells, if there is none.
  struct Group {
    std::size_t entity;
    std::size_t begin;  // of its cells in `by_entity_`
    std::unique_ptr<Ones> ones;
  };

  HostCells cells_;
  Kernel& kernel_;
  CellsByEntity by_entity_;
  std::vector<std::int64_t> observed_;  // in the order of by_entity_
  std::vector<Group> groups_;
};

}  // namespace ztp
