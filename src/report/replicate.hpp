// Replicated data: a tensor drawn from the parameters of one posterior draw.
#pragma once
#include <cstdint>
#include <vector>

#include "base/pool.hpp"
#include "model/state.hpp"
#include "ztp/buffer.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// The shape of a replicate.
struct ReplicatePlan {
  const SparseTensor& tensor;  // its modes
  const Missing& missing;      // cells that no replicate has, as the data have not
  bool counts = false;         // a cell that is hit twice counts twice
  std::uint64_t seed = 1;
  bool self_missing = false;  // cells (i, i) of tied modes are missing, too
};

// The expected number of points of a replicate: what it costs.
double points_expected(const std::vector<double>& log_weight);

// The cells of replicate number `replicate` (x K), a function of the state, the plan and that number: of component r
// Poisson(lambda_r) points, each with an entity of each mode by u.    (M1)
// Ascending and each once; with counts in any order, and each as often as its count is.
// Reads the state, whose factors are on the host; O(sum_r lambda_r K + sum_k P_k n_k).
Buffer<std::uint32_t> replicated_cells(const State& state, const ReplicatePlan& plan, std::uint32_t replicate,
                                       Pool& pool);

}  // namespace ztp
