// What the logistic models need for predictions: theta = b + sum_r w_r prod_k u^(k)[i_k, r] of cells.           (M32)
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"
#include "base/pool.hpp"
#include "model/state.hpp"

namespace ztp {

struct LogitModel {
  std::vector<const Matrix<float>*> u;  // K
  std::vector<double> weight;           // w, R
  double intercept = 0;                 // b
  std::vector<float> factor = {};       // K: what the matrices are to be multiplied by; empty: nothing
};
// Of a recorded draw, whose state holds n_k u^(k) (or some rows of it) and log w, in arrays of the host. Refers to it.
LogitModel recorded_model(const State& state, double intercept);

// theta of cells (count x K), O(count R K).
void logits(Pool& pool, const LogitModel& model, const std::uint32_t* cells, std::size_t count, double* theta);
double logistic(double theta);

}  // namespace ztp
