// The unknowns of the model and the sufficient statistics that their conditionals need (docs/model.md, sections 1 to 3).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/matrix.hpp"
#include "model/weight_prior.hpp"

namespace ztp {

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

struct State {
  std::size_t R = 0;
  Shapes shapes;
  std::vector<Matrix<float>> u;   // K matrices n_k x R of n_k u^(k)[j, r]: a product over many modes stays in range
  Weights tensor;                 // lambda, p
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
  // All that has R values, in the order and by the names of a checkpoint.
  struct Totals {
    std::string name;
    std::vector<std::int64_t>* counts;
  };
  std::vector<Totals> totals();
};

// Everything of the right size and zero, for these sizes of modes.
State make_state(const std::vector<std::uint32_t>& sizes, std::size_t networks, std::size_t R,
                 const Hyperparameters& hyper);
Statistics make_statistics(const std::vector<std::uint32_t>& sizes, std::size_t networks, std::size_t R);

// Those of the shapes that are learned: a_1, ..., a_K, g, f_1, ....
std::vector<double> learned_values(const Shapes& shapes, const Hyperparameters& hyper);

// Components with at least half a count from the ones of the tensor: imputed counts occupy nothing.
std::size_t occupied(const Statistics& statistics);
// Likewise components with counts from edges and none from ones: they say nothing of the tensor.
std::size_t network_only(const Statistics& statistics);

}  // namespace ztp
