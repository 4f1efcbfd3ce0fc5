// R-hat and effective sample size. Definitions of Vehtari, Gelman, Simpson, Carpenter and Buerkner,
// "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian
// Analysis 16(2), 2021, doi:10.1214/20-BA1221 (V below), as in Stan's posterior package and ArviZ.
#pragma once
#include <vector>

#include "ztp/diagnose.hpp"

namespace ztp {

// Draws of one quantity: a vector for each chain. Longer chains are cut to the shortest, at their ends.
using DrawsOfChains = std::vector<std::vector<double>>;

// R-hat is rank-normalised and split, the larger of bulk and folded. (Of one chain ArviZ gives no R-hat. For equal
// draws it gives an ESS of S, and posterior NA.)
Convergence convergence(const DrawsOfChains& draws);

// Autocovariances, averaged over the chains, with divisor N at every lag (biased, as Geyer's truncation wants it). The
// first lags are plain sums; a chain that mixes so slowly that it needs more gets all of them at once by a Fourier
// transform. So the cost is N times the lags asked for or N log N, whichever is less.
class Autocovariance {
 public:
  explicit Autocovariance(const DrawsOfChains& chains);  // of equal lengths, at least one draw each
  double operator()(std::size_t lag);                    // lag < N

 private:
  double direct(std::size_t lag) const;
  void transform();

  DrawsOfChains centred_;
  std::size_t length_;       // N
  std::vector<double> all_;  // every lag, once the Fourier transform was taken
};

// The z with normal distribution function p, 0 < p < 1, to the precision of a double.
double normal_quantile(double p);

}  // namespace ztp
