// The unknowns of the model and the sufficient statistics that their conditionals need (docs/model.md, sections 1 to 3).
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"

namespace ztp {

// Gamma-beta hierarchy of a set of weights: lambda_r ~ Gamma(shape, p_r / (1 - p_r)), p_r ~ Beta(c eps, c (1 - eps)).
struct WeightPrior {
  double shape;          // g (tensor) or f (network)
  double concentration;  // c or d
  double mean;           // eps or alpha
};

struct Hyperparameters {
  std::vector<double> dirichlet;  // a_k, one for each mode
  WeightPrior tensor;             // g, c, eps
  WeightPrior network;            // f, d, alpha; the same for every network
};

// The R weights of the tensor (lambda, p) or of a network (beta, h), in logs: an empty component's weight underflows.
struct Weights {
  std::vector<double> log_weight;  // log lambda_r
  std::vector<double> log_p;       // log p_r
  explicit Weights(std::size_t R = 0) : log_weight(R), log_p(R) {}
};

struct State {
  std::size_t R = 0;
  std::vector<Matrix<float>>
      u;           // K matrices n_k x R, holding n_k u^(k)[j, r]: a product over many modes stays in range
  Weights tensor;  // lambda, p
  std::vector<Weights> networks;  // beta, h of each network
};

// Latent counts summed up. In batch all of it is integer, so the order of the sums does not matter.
struct Statistics {
  std::vector<Matrix<std::int64_t>> rows;  // K matrices: S^(k)[j, r] = s^(k)[j, r] + sum over networks of v[j, r]
  std::vector<std::int64_t> tensor;        // s_r
  std::vector<std::vector<std::int64_t>> networks;  // v_r of each network
  void clear();
};

// p_r ~ Beta(c eps + s_r, c (1 - eps) + g), lambda_r ~ Gamma(g + s_r, scale p_r)            (M6), (M7)
// Reads the totals, writes the weights, O(R).
void draw_weights(const WeightPrior& prior, const std::vector<std::int64_t>& totals, std::uint64_t seed,
                  std::uint32_t chain, std::uint32_t sweep, int network, Weights& weights);

// Components with at least one count, s_r >= 0.5.
std::size_t occupied(const Statistics& statistics);

}  // namespace ztp
