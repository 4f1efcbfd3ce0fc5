#include "kernel/cpu/bounds.hpp"

#include <cmath>

#include "kernel/bounded_draw.hpp"

namespace ztp::cpu {
namespace {

// Norms of K-th powers, relative to the largest value of the block so that no power leaves the range of floats.
void add_norms(const Matrix<float>& u, const std::vector<float>& root, std::size_t K, std::size_t begin,
               std::size_t end, Matrix<float>& norms) {
  const float power = 1.0f / static_cast<float>(K);
  for (std::size_t j = begin; j < end; ++j)
    for (std::size_t b = 0; b < norms.columns(); ++b) {
      const float* row = u.row(j) + b * components_per_block;
      float value[components_per_block], largest = 0, sum = 0;
      for (std::size_t l = 0; l < components_per_block; ++l) value[l] = row[l] * root[b * components_per_block + l];
      for (std::size_t l = 0; l < components_per_block; ++l) largest = std::max(largest, value[l]);
      const float inverse = largest > 0 ? 1 / largest : 0;
      for (std::size_t l = 0; l < components_per_block; ++l) {
        const float ratio = value[l] * inverse;
        float term = ratio;
        for (std::size_t k = 1; k < K; ++k) term *= ratio;
        sum += term;
      }
      norms.row(j)[b] = largest * std::pow(sum, power) * bound_margin;
    }
}

}  // namespace

Bounds make_bounds(Pool& pool, const Rates& rates) {
  const std::size_t K = rates.u.size(), blocks = padded(rates.R) / components_per_block;
  std::vector<float> root(padded(rates.R));
  for (std::size_t r = 0; r < root.size(); ++r) root[r] = std::pow(rates.weight[r], 1.0f / static_cast<float>(K));
  Bounds bounds;
  const bool shared = K == 2 && rates.u[0] == rates.u[1];
  for (std::size_t k = 0; k < (shared ? 1 : K); ++k) bounds.norms.emplace_back(rates.u[k]->rows(), blocks);
  for (std::size_t k = 0; k < bounds.norms.size(); ++k) {
    const Blocks rows{rates.u[k]->rows(), 256};
    pool.for_blocks(rows.count(), [&](std::size_t b) {
      add_norms(*rates.u[k], root, K, rows.begin(b), rows.end(b), bounds.norms[k]);
    });
  }
  bounds.rates = rates;
  bounds.rates.R = blocks;
  bounds.rates.weight.assign(padded(blocks), 0.0f);
  std::fill(bounds.rates.weight.begin(), bounds.rates.weight.begin() + static_cast<std::ptrdiff_t>(blocks), 1.0f);
  for (std::size_t k = 0; k < K; ++k) bounds.rates.u[k] = &bounds.norms[shared ? 0 : k];
  return bounds;
}

}  // namespace ztp::cpu
