#include "kernel/logits.hpp"

#include <cmath>

#include "kernel/host_arrays.hpp"

namespace ztp {
namespace {

constexpr std::size_t cells_per_block = 4096;

}  // namespace

double logistic(double theta) {
  return 1 / (1 + std::exp(-theta));
}

LogitModel recorded_model(const State& state, double intercept) {
  LogitModel model{{}, {}, intercept};
  for (const auto& matrix : state.factors) {
    model.u.push_back(&values_of(*matrix));
    model.factor.push_back(1 / static_cast<float>(matrix->all_rows()));
  }
  for (const double log_weight : state.tensor.log_weight) model.weight.push_back(std::exp(log_weight));
  return model;
}

void logits(Pool& pool, const LogitModel& model, const std::uint32_t* cells, std::size_t count, double* theta) {
  const std::size_t R = model.weight.size(), K = model.u.size();
  std::vector<float> w(padded(R), 0.0f);
  for (std::size_t r = 0; r < R; ++r) w[r] = static_cast<float>(model.weight[r]);
  const Blocks blocks{count, cells_per_block};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::vector<float> product;
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      product = w;
      for (std::size_t k = 0; k < K; ++k) {
        const float* row = model.u[k]->row(cells[i * K + k]);
        // Mode by mode: the product of all sizes may be beyond what a float holds.
        const float factor = model.factor.empty() ? 1 : model.factor[k];
        for (std::size_t r = 0; r < product.size(); ++r) product[r] *= factor * row[r];
      }
      double sum = model.intercept;
      for (std::size_t r = 0; r < R; ++r) sum += static_cast<double>(product[r]);
      theta[i] = sum;
    }
  });
}

}  // namespace ztp
