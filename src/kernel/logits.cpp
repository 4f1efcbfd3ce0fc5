#include "kernel/logits.hpp"

#include <cmath>

namespace ztp {
namespace {

constexpr std::size_t cells_per_block = 4096;

}  // namespace

double logistic(double theta) {
  return 1 / (1 + std::exp(-theta));
}

void logits(Pool& pool, const std::vector<const Matrix<float>*>& u, bool scaled, const std::vector<double>& weight,
            double intercept, const std::uint32_t* cells, std::size_t count, double* theta) {
  const std::size_t R = weight.size(), K = u.size();
  std::vector<float> w(padded(R), 0.0f);
  for (std::size_t r = 0; r < R; ++r) w[r] = static_cast<float>(weight[r]);
  const Blocks blocks{count, cells_per_block};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::vector<float> product;
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      product = w;
      for (std::size_t k = 0; k < K; ++k) {
        const float* row = u[k]->row(cells[i * K + k]);
        // Mode by mode: the product of all sizes may be beyond what a float holds.
        const float factor = scaled ? 1 / static_cast<float>(u[k]->rows()) : 1;
        for (std::size_t r = 0; r < product.size(); ++r) product[r] *= factor * row[r];
      }
      double sum = intercept;
      for (std::size_t r = 0; r < R; ++r) sum += static_cast<double>(product[r]);
      theta[i] = sum;
    }
  });
}

void recorded_logits(Pool& pool, const State& state, double intercept, const std::uint32_t* cells, std::size_t count,
                     double* theta) {
  std::vector<const Matrix<float>*> u;
  for (const Matrix<float>& matrix : state.u) u.push_back(&matrix);
  std::vector<double> weight;
  for (const double log_weight : state.tensor.log_weight) weight.push_back(std::exp(log_weight));
  logits(pool, u, true, weight, intercept, cells, count, theta);
}

}  // namespace ztp
