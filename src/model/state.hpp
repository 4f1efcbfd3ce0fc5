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
  bool learn_dirichlet = false;   // the a_k above are the medians of their priors, and drawn in every sweep
  bool learn_shapes = false;      // likewise g and f
};

// The values in use of the hyperparameters that may be learned.
struct Shapes {
  std::vector<double> dirichlet;  // a_k
  double tensor = 0;              // g
  std::vector<double> networks;   // f of each network
};

// The R weights of the tensor (lambda, p) or of a network (beta, h), in logs: an empty component's weight underflows.
struct Weights {
  std::vector<double> log_weight;  // log lambda_r
  std::vector<double> log_p;       // log p_r
  explicit Weights(std::size_t R = 0) : log_weight(R), log_p(R) {}
};

struct State {
  std::size_t R = 0;
  Shapes shapes;
  std::vector<Matrix<float>>
      u;           // K matrices n_k x R, holding n_k u^(k)[j, r]: a product over many modes stays in range
  Weights tensor;  // lambda, p
  std::vector<Weights> networks;  // beta, h of each network
};

// Latent counts summed up, all of it integer, so that the order of the sums does not matter. A count is one in batch; online, where
// counts are weighted, everything is in fractions of a count: `scale` of them is what a stored one stands for.
struct Statistics {
  double scale = 1;
  std::vector<Matrix<std::int64_t>> rows;  // K matrices: S^(k)[j, r] = s^(k)[j, r] + sum over networks of v[j, r]
  std::vector<std::int64_t> tensor;        // s_r
  std::vector<std::vector<std::int64_t>> networks;  // v_r of each network
  // What of it comes from data, not from imputed cells. Only reported: the conditionals do not tell them apart.
  std::vector<std::int64_t> from_ones;   // R
  std::vector<std::int64_t> from_edges;  // R, all networks together
  void clear();
  void clear_totals();  // all but the rows
};

// Everything of the right size and zero, for these sizes of modes.
State make_state(const std::vector<std::uint32_t>& sizes, std::size_t networks, std::size_t R,
                 const Hyperparameters& hyper);
Statistics make_statistics(const std::vector<std::uint32_t>& sizes, std::size_t networks, std::size_t R);

// p_r ~ Beta(c eps + s_r, c (1 - eps) + g), lambda_r ~ Gamma(g + s_r, scale p_r)            (M6), (M7)
// Reads the totals, each `scale` counts, writes the weights, O(R). prior.shape is the g in use.
void draw_weights(const WeightPrior& prior, const std::vector<std::int64_t>& totals, std::uint64_t seed,
                  std::uint32_t chain, std::uint32_t sweep, int network, Weights& weights, double scale = 1);
// Their means: p_r = (c eps + s_r) / (c + g + s_r), lambda_r = (g + s_r) p_r.                         (M28)
void mean_weights(const WeightPrior& prior, const std::vector<std::int64_t>& totals, double scale, Weights& weights);

// Those of the shapes that are learned: a_1, ..., a_K, g, f_1, ....
std::vector<double> learned_values(const Shapes& shapes, const Hyperparameters& hyper);

// Components with at least half a count from the ones of the tensor: imputed counts occupy nothing.
std::size_t occupied(const Statistics& statistics);
// Likewise components with counts from edges and none from ones: they say nothing of the tensor.
std::size_t network_only(const Statistics& statistics);

}  // namespace ztp
