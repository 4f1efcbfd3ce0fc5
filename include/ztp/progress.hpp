// The progress report of a fit after every sweep.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ztp {

// What of it is recorded in trace.tsv and draws.nc: src/store/trace_columns.hpp.
struct SweepReport {
  std::uint32_t chain = 0;  // from 0
  std::uint32_t sweep = 0;  // from 1; online, a minibatch
  double seconds = 0;       // of sampling alone, since the chain's start
  // Of the tensor and its networks, at the parameters of this sweep. Not a number on sweeps of a large rank where it
  // was not computed.
  double log_likelihood = 0;
  std::size_t occupied = 0;      // components with at least one count from the ones; of a rival, that move logits
  std::size_t network_only = 0;  // components with counts from edges alone
  double total_weight = 0;       // sum of lambda: the expected number of counts in all cells; of a rival, of effects
  std::vector<double> learned;   // hyperparameters that are learned: a of each mode, g, f of each network
  std::vector<double> watched;   // probabilities of the watched cells; empty in sweeps that do not record them
  // AUC-ROC of the held-out cells: during burn-in from the current draw, afterwards from the mean over the chain's
  // draws so far. NaN if they were not scored in this sweep.
  double auc_roc = 0;
  std::uint64_t done = 0;     // sweeps of all chains so far
  std::uint64_t planned = 0;  // and when all are through
};

// A bound on the number of components that --rank auto tries, in a short chain.
struct RankTrial {
  std::uint32_t rank = 0;    // the bound
  std::uint32_t sweeps = 0;  // of the chain so far
  std::size_t used = 0;      // components that have 99 % of the counts of the ones
};

}  // namespace ztp
