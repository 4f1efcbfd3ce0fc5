// Have the chains of a run converged, how precise are its numbers, and what would help? Reads the run directory only:
// trace.tsv, and cells.tsv and watched.tsv where the run watched cells. Interrupted and running fits are judged by what
// they have so far.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ztp/choices.hpp"

namespace ztp {

// Whether chains agree on a quantity, and how many independent draws they are worth. Definitions of Vehtari, Gelman,
// Simpson, Carpenter and Buerkner, Bayesian Analysis 16(2), 2021, doi:10.1214/20-BA1221. NaN if there is no such
// number: a draw that is not finite, fewer than four draws in a chain, or all draws equal.
struct Convergence {
  double mean = 0;      // over all draws
  double sd = 0;        // of the posterior: of all draws together, divisor S - 1
  double mcse = 0;      // Monte Carlo standard error of the mean
  double r_hat = 0;     // infinite if chains are constant at different values; of one chain: between its halves
  double ess_bulk = 0;  // effective sample size of the rank-normalised draws, all chains together
  double ess_tail = 0;  // the smaller one at the 5 % and the 95 % quantile
};

// One quantity over the draws after burn-in of all chains.
struct Quantity : Convergence {
  std::string name;
  double ess_per_second = 0;        // bulk ESS over the seconds of sampling after burn-in, all chains
  bool constant = false;            // all draws are equal: perfect agreement
  std::vector<double> chain_means;  // in the order of Diagnosis::chains
};

// The probability of one cell of the fixed sample that the run watched.
struct WatchedCell {
  std::vector<std::string> labels;  // one for each mode; empty without watched.tsv
  std::optional<bool> outcome;      // of a held-out cell
  Quantity probability;
};

// good: R-hat at most 1.01 and an ESS of at least 400, in bulk and tails, as the paper above asks for. usable: R-hat at
// most 1.05, the limit of RStan's manual, and an ESS of at least 100, with a Monte Carlo error of a tenth of the
// posterior sd.
enum class Verdict { good, usable, poor, one_chain, too_short };
template <>
inline constexpr auto choice_names<Verdict> = std::array{"good", "usable", "poor", "one chain", "too short"};

// The diagnosis of a run's chains.
struct Diagnosis {
  std::string status;                      // of the run: running, interrupted, killed or complete
  std::vector<std::size_t> chains;         // that were judged, from 0; one that has only begun is left out
  std::size_t draws = 0;                   // sweeps after burn-in of each of them: as many as the shortest has
  double seconds = 0;                      // of sampling these
  std::vector<Quantity> quantities;        // log-likelihood, occupied rank, total weight, learned hyperparameters
  std::vector<WatchedCell> cells;          // in the order of watched.tsv
  std::optional<std::size_t> worst_cell;   // of largest R-hat; nothing without cells
  std::optional<std::size_t> scarce_cell;  // of smallest ESS
  std::optional<std::size_t> median_cell;  // by R-hat

  // good if everything is good, poor if the predictions are; but too_short or one_chain if either applies.
  Verdict verdict = Verdict::too_short;
  Verdict predictions = Verdict::poor;  // good, usable or poor: the cells, without them the log-likelihood
  Verdict rank = Verdict::poor;         // the same for the occupied rank
  std::vector<std::string> sentences;   // in plain words: what agrees, what does not, and what to do
};

// Error (input), if the directory is not a run, or names file:line where a file is damaged; Error (config) for a rival
// that is a point estimate and has no draws.
Diagnosis diagnose(const std::string& run_dir);

// Reasons to be careful with the predictions of a run, one sentence each: its chains do not agree yet, or its intervals
// are too narrow. Empty if there is no such reason. A run without a trace is not judged.
struct Cautions {
  std::string convergence;
  std::string intervals;
};
Cautions cautions(const std::string& run_dir);

}  // namespace ztp
