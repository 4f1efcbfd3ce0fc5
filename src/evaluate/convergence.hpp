// Have the chains converged, and how many independent draws are they worth? Definitions of Vehtari, Gelman, Simpson, Carpenter
// and Buerkner, "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian
// Analysis 16(2), 2021, doi:10.1214/20-BA1221 (V below), as in Stan's posterior package and ArviZ.
#pragma once
#include <vector>

namespace ztp {

// Draws of one quantity: a vector for each chain. Longer chains are cut to the shortest, at their ends.
using ChainDraws = std::vector<std::vector<double>>;

// NaN wherever a number cannot be had: a draw that is not finite, fewer than four draws in a chain, or all draws equal. (For
// equal draws ArviZ gives an ESS of S, all of them, and posterior NA; both have no R-hat.) Chains that are constant at different
// values have an infinite R-hat.
struct Convergence {
  double mean = 0;
  double sd = 0;    // of all draws together, divisor S - 1
  double mcse = 0;  // Monte Carlo standard error of the mean
  // Rank-normalised and split, the larger of bulk and folded. One chain: its halves (ArviZ gives none).
  double r_hat = 0;
  double ess_bulk = 0;  // effective sample size of the rank-normalised draws, all chains together
  double ess_tail = 0;  // the smaller one at the 5 % and the 95 % quantile
};

Convergence convergence(const ChainDraws& draws);

// The z with normal distribution function p, 0 < p < 1, to the precision of a double.
double normal_quantile(double p);

}  // namespace ztp
