// Upper bounds on the rates of blocks of components, for many components (kernel/bounded_draw.hpp).
#pragma once
#include "kernel/host_rates.hpp"

namespace ztp::cpu {

// For each row of each factor and each block of 16 components, the Euclidean norm of its values times the weights' K-th
// roots. The product of a cell's K norms is at least the sum of its products over the block.                    (M24)
struct Bounds {
  std::vector<Matrix<float>> norms;  // K, n_k x blocks; one for both ends of an edge
  HostRates rates;                   // of a tensor with a component for each block
};
Bounds make_bounds(Pool& pool, const HostRates& rates);

}  // namespace ztp::cpu
