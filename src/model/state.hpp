// The unknowns of the model and the sufficient statistics that their conditionals need (docs/model.md, sections 1 to
// 3).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/arrays.hpp"
#include "model/factor_layout.hpp"
#include "model/weight_prior.hpp"

namespace ztp {

struct Hyperparameters {
  std::vector<double> dirichlet;  // a, one for each factor matrix
  WeightPrior tensor;             // g, c, eps
  WeightPrior network;            // f, d, alpha; the same for every network
  bool learn_dirichlet = false;   // the values above are the medians of their priors, and drawn in every sweep
  bool learn_shapes = false;      // likewise g and f
};

// The values in use of the hyperparameters that may be learned.
struct PriorShapes {
  std::vector<double> dirichlet;  // a of each factor matrix
  double tensor = 0;              // g
  std::vector<double> networks;   // f of each network
};

struct State {
  FactorLayout layout;
  PriorShapes shapes;
  std::vector<std::unique_ptr<Factors>> factors;  // of each matrix of the layout
  Weights tensor;                                 // lambda, p
  std::vector<Weights> networks;                  // beta, h of each network

  const Factors& of_mode(std::size_t k) const { return *factors[layout.matrix(k)]; }
};

// Latent counts summed up, all of it integer, so that the order of the sums does not matter. A count is one in batch;
// online, where counts are weighted, everything is in fractions of a count: `scale` of them is what a stored one stands
// for.
struct Statistics {
  double scale = 1;
  // Of each matrix of the layout: S[j, q] = sum over its modes of s[j, q], and over its networks of v[j, q].
  std::vector<std::unique_ptr<Counts>> rows;
  std::vector<std::int64_t> tensor;                 // s_r
  std::vector<std::vector<std::int64_t>> networks;  // v_q of each network
  // What of it comes from data, not from imputed cells. Only reported: the conditionals do not tell them apart.
  std::vector<std::int64_t> from_ones;   // R
  std::vector<std::int64_t> from_edges;  // all networks together

  void clear();
  void clear_totals();  // all but the rows
  // All that has a value for each component, in the order and by the names of a checkpoint.
  struct Totals {
    std::string name;
    std::vector<std::int64_t>* counts;
  };
  std::vector<Totals> totals();
};

// The matrix of a one-hot mode, times n as all factors.
void set_identity(Factors& u);
// Everything of the right size and zero. `networks`: the matrix of the layout that each network is on.
State make_state(const FactorLayout& layout, const std::vector<std::size_t>& networks, const Hyperparameters& hyper,
                 ArrayMaker& arrays);
Statistics make_statistics(const FactorLayout& layout, const std::vector<std::size_t>& networks, bool wide,
                           ArrayMaker& arrays);

// Those of the shapes that are learned: a of each matrix that is drawn, g, f_1, ....
std::vector<double> learned_values(const State& state, const Hyperparameters& hyper);

// Components with at least half a count from the ones of the tensor: imputed counts occupy nothing.
std::size_t occupied(const Statistics& statistics);
// Likewise components with counts from edges and none from ones: they say nothing of the tensor.
std::size_t network_only(const Statistics& statistics);

}  // namespace ztp
