// One network as data: its likelihood given the parameters, all of it (docs/model.md, section 3). Chains ask for
// counts, ends and log-likelihoods, and hold no formula of a network.
#pragma once
#include <cstdint>
#include <vector>

#include "sampler/latent_counts.hpp"

namespace ztp {

class NetworkPart {
 public:
  // Refers to all of these. m: its number.
  NetworkPart(const Problem& problem, std::size_t m, const LatentCounts& counts, Kernel& kernel);

  std::size_t factor_matrix() const { return problem_.layout.matrix(network().mode); }  // that it is on

  // ---- all edges at once

  // To be called when the edges are there, and when they are others than before. O(edges).
  void upload_edges();
  // X = 1 for every edge, its component uniform at random. Adds into the statistics.
  void start(Statistics& statistics) const;
  // Latent counts of edges, missing pairs and the diagonal given the parameters.                  (M11), (M12), (M17)
  // Reads the state, adds into the statistics, O((edges + missing pairs) R + n R). Returns the log-likelihood of the
  // network.
  double draw_counts(const State& state, const DrawSettings& settings, Statistics& statistics) const;

  // ---- edges in minibatches

  // Latent counts of some edges.                                                                      (M11)
  // Reads the state, adds into the statistics, O(count R). Returns their log-likelihood without the rate of all pairs.
  double draw_counts_of_edges(const Ones& edges, const State& state, const DrawSettings& settings,
                              Statistics& statistics) const;
  // Those of the missing pairs and of the diagonal.                                                   (M12), (M17)
  // Reads the state, adds into the statistics, O(pairs R + n R). Returns their rate.
  double impute(const State& state, const DrawSettings& settings, Statistics& statistics) const;
  // What edges of which each stands for `weight` say of the log-likelihood, with the two values returned above.
  double scaled_log_likelihood(const State& state, double weight, double of_edges, double imputed) const;

  // ---- what counts of a network add to those of its matrix

  // The rate of all ends: two of every pair and of every cell of the diagonal.
  double rate_of_ends(const State& state) const { return rates(state).total; }
  // Ends in column q of the matrix that come from this network, as they are stored and as counts.      (M15)
  std::int64_t stored_ends(const Statistics& statistics, std::size_t q) const;
  double ends(const Statistics& statistics, std::size_t q) const;
  // Ends of so many edges, each with a count of one.
  static double ends_of(std::uint64_t edges) { return 2 * static_cast<double>(edges); }

 private:
  const Network& network() const { return problem_.networks[m_]; }
  Rates rates(const State& state) const;
  CountSums sums(Statistics& statistics) const;

  const Problem& problem_;
  std::size_t m_;
  const LatentCounts& counts_;
  Kernel& kernel_;
  FactorLayout pairs_;  // both ends are rows of one matrix
  std::unique_ptr<Ones> edges_, missing_;
};

}  // namespace ztp
