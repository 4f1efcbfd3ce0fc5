// What the logistic models need for predictions: theta = b + sum_r w_r prod_k u^(k)[i_k, r] of cells.
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"
#include "base/pool.hpp"
#include "model/state.hpp"

namespace ztp {

// theta of cells (count x K), O(count R K). `scaled`: the matrices hold n_k u^(k).
void logits(Pool& pool, const std::vector<const Matrix<float>*>& u, bool scaled, const std::vector<double>& weight,
            double intercept, const std::uint32_t* cells, std::size_t count, double* theta);
// The same of a recorded draw, whose state holds n_k u^(k) and log w.
void recorded_logits(Pool& pool, const State& state, double intercept, const std::uint32_t* cells, std::size_t count,
                     double* theta);
double logistic(double theta);

}  // namespace ztp
