// What is sampled: data, prior and the choices that the draws depend on.
#pragma once
#include <cstdint>
#include <span>

#include "base/pool.hpp"
#include "model/state.hpp"
#include "ztp/options.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

struct Problem {
  // The matrix of the layout that each network is on.
  std::vector<std::size_t> network_matrices() const {
    std::vector<std::size_t> matrices;
    for (const Network& network : networks) matrices.push_back(layout.matrix(network.mode));
    return matrices;
  }

  const SparseTensor* tensor = nullptr;  // of an online chain its modes alone
  std::span<const Network> networks;
  Hyperparameters hyper;
  FactorLayout layout;
  std::uint64_t seed = 0;
  const Missing* missing = nullptr;  // null: every cell is observed
  // Hyperparameters are learned from the sweep after this one on. A random allocation looks like columns that are all
  // alike, and would send a to infinity.
  std::uint32_t learn_after = 0;
  // Components of counts are found by way of bounds: for many components (kernel/bounded_draw.hpp).
  bool bounded = false;
  // redraw the components of counts with the parameters integrated out (sampler/collapsed_moves.hpp)
  bool collapsed = false;
  // Where components share columns (sampler/shared_chain.hpp):
  bool move_columns = true;         // components move between columns
  std::uint32_t columns_after = 0;  // they begin to do so after this sweep: at first, components are all alike
  Pool* pool = nullptr;             // of the host, for these moves; null: one thread
  bool self_missing = false;        // cells (i, i) of two modes that share a matrix are not data
  std::uint32_t update = 0;         // how many updates the run has had: a coordinate of its random streams
  FitOptions options = {};          // for choices that one place of the sampler looks at, as where a chain starts
};

}  // namespace ztp
