// R-hat and effective sample size. Definitions of Vehtari, Gelman, Simpson, Carpenter and Buerkner,
// "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian
// Analysis 16(2), 2021, doi:10.1214/20-BA1221 (V below), as in Stan's posterior package and ArviZ.
#pragma once
#include <vector>

#include "ztp/diagnose.hpp"

namespace ztp {

// Draws of one quantity: a vector for each chain. Longer chains are cut to the shortest, at their ends.
using ChainDraws = std::vector<std::vector<double>>;

// R-hat is rank-normalised and split, the larger of bulk and folded. (Of one chain ArviZ gives no R-hat. For equal
// draws it gives an ESS of S, and posterior NA.)
Convergence convergence(const ChainDraws& draws);

// The z with normal distribution function p, 0 < p < 1, to the precision of a double.
double normal_quantile(double p);

}  // namespace ztp
