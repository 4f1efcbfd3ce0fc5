#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

// For each row of each factor and each block of 16 components, the norm N = (sum_r (c_r u_r)^K)^(1/K), c_r = weight[r]^(1/K). By
// Hoelder's inequality the product of a cell's K norms is at least the sum of its products over the block.        (M24)
struct Bounds {
  std::vector<Matrix<float>> norms;  // K, n_k x blocks; one for both ends of an edge
  Rates rates;                       // of a tensor with a component for each block
};
Bounds make_bounds(Pool& pool, const Rates& rates);

}  // namespace ztp::cpu
