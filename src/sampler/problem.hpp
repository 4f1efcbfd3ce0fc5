// What is sampled: data, prior and the choices that the draws depend on.
#pragma once
#include <cstdint>
#include <span>

#include "model/state.hpp"
#include "ztp/options.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

struct Problem {
  const SparseTensor* tensor = nullptr;  // of an online chain its modes alone
  std::span<const Network> networks;
  Hyperparameters hyper;
  std::size_t R = 0;
  std::uint64_t seed = 0;
  const Missing* missing = nullptr;  // null: every cell is observed
  // Hyperparameters are learned from the sweep after this one on. A random allocation looks like columns that are all alike, and
  // would send a to infinity.
  std::uint32_t learn_after = 0;
  // Components of counts are found by way of bounds: for many components (kernel/bounded_draw.hpp).
  bool bounded = false;
  bool regroup = false;     // redraw the components of counts with the parameters integrated out (sampler/regroup.hpp)
  FitOptions options = {};  // for choices that one place of the sampler looks at, as where a chain starts
};

}  // namespace ztp
