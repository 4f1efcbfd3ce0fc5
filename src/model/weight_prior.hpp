// The prior of the weights of the tensor (lambda, p) and of each network (beta, h), and all that follows from it: the
// conditionals that sweeps draw from, their means, and what is left of it when the weights are integrated out. Nothing
// else in the code knows this prior.
//   lambda_r ~ Gamma(g, scale p_r / (1 - p_r)),   p_r ~ Beta(c eps, c (1 - eps))
// Where components share columns, all of them have the same p.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"

namespace ztp {

struct FitOptions;

struct WeightPrior {
  double shape;          // g (tensor) or f (network); where it is learned, the median of its prior or the value in use
  double concentration;  // c or d
  double mean;           // eps or alpha
  bool shared = false;   // one p for all components

  WeightPrior with_shape(double in_use) const { return {in_use, concentration, mean, shared}; }
};

// The R weights of the tensor (lambda, p) or of a network (beta, h), in logs: an empty component's weight underflows.
struct Weights {
  std::vector<double> log_weight;  // log lambda_r
  std::vector<double> log_p;       // log p_r
  explicit Weights(std::size_t R = 0) : log_weight(R), log_p(R) {}
};

// What the options say, when the defaults that follow from others are filled in.
struct WeightPriors {
  WeightPrior tensor;   // g, c, eps
  WeightPrior network;  // f, d, alpha; the same for every network
};
WeightPriors weight_priors(const FitOptions& complete);
// network_columns: of the matrices that networks are on.
void complete_weight_priors(FitOptions& options, std::size_t network_columns);

// p_r ~ Beta(c eps + s_r, c (1 - eps) + g), lambda_r ~ Gamma(g + s_r, scale p_r)        (M6), (M7); of a network (M13),
// (M14). A shared p ~ Beta(c eps + sum_r s_r, c (1 - eps) + R g)                                              (M54)
// Reads the totals, each `scale` counts, writes the weights, O(R). prior.shape is the g in use.
void draw_weights(const WeightPrior& prior, std::span<const std::int64_t> totals, double scale, const Streams& streams,
                  Weights& weights);

// Their means: p_r = (c eps + s_r) / (c + g + s_r), lambda_r = (g + s_r) p_r.                                   (M28)
void mean_weights(const WeightPrior& prior, std::span<const std::int64_t> totals, double scale, Weights& weights);

// With lambda and p integrated out, the next token is in a component that has s of them with probability proportional
// to over / under, times what the columns say.                                                                   (M22)
struct Predictive {
  double over, under;
};
Predictive predictive(const WeightPrior& prior, double s);

// Adds the log-probability of the totals, lambda and p integrated out, but for what does not depend on the shape, to
// `sum`, term by term: a sum of its own would be rounded otherwise. O(R).                                       (M21)
void add_log_marginal(const WeightPrior& prior, std::span<const std::int64_t> totals, double& sum);

}  // namespace ztp
