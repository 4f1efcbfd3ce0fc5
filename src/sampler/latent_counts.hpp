// The latent counts of data and of what is missing, given the parameters: the half of a sweep that batch and online share.
#pragma once
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "sampler/problem.hpp"

namespace ztp {

class LatentCounts {
 public:
  // How counts are drawn, and what each adds to the statistics.
  struct How {
    std::uint32_t t = 0;
    std::uint32_t chunk = 0;  // of the ones of this step: each has random numbers of its own
    std::int64_t unit = 1;
    bool expected = false;   // their expectations instead of draws
    bool likelihood = true;  // where it costs extra
    bool bounded = false;    // as Entries
    bool anywhere = false;   // as Entries
    bool fresh = false;      // as Sums; of the ones alone
    Allocation* parts = nullptr;
  };

  LatentCounts(const Problem& problem, Kernel& kernel, std::uint32_t chain);
  // Makes room for this many ones at once, and for edges and what is missing.
  void reserve(std::size_t ones);

  // Latent counts of ones.                                                                            (M3), (M4)
  // Reads the state, adds into the statistics, O(count R K). Returns their log-likelihood without the rate of all cells.
  double draw_ones(Entries ones, const State& state, const How& how, Statistics& statistics) const;
  // Latent counts of the missing cells, each exactly once: slices mode by mode, then the list.        (M17), (M18)
  // Reads the state, adds into the statistics, O(list R K + R sum_k n_k). Returns the rate of all missing cells.
  double impute_missing(const State& state, const How& how, Statistics& statistics) const;
  // Latent counts of edges of network m.                                                              (M11)
  // Reads the state, adds into the statistics, O(count R). Returns their log-likelihood without the rate of all pairs.
  double draw_edges(std::size_t m, Entries edges, const State& state, const How& how, Statistics& statistics) const;
  // Those of its missing pairs and of its diagonal.                                                   (M12), (M17)
  // Reads the state, adds into the statistics, O(pairs R + n R). Returns their rate.
  double impute_pairs(std::size_t m, const State& state, const How& how, Statistics& statistics) const;

  StreamKey key(Purpose purpose, std::size_t mode = 0) const;

 private:
  double impute_slices(std::size_t k, const State& state, const How& how, Statistics& statistics) const;

  const Problem& problem_;
  Kernel& kernel_;
  std::uint32_t chain_;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // for each mode with missing slices, one for each missing entity
};

Rates tensor_rates(const State& state);
// Of all pairs and the diagonal together the rate is half the total of these.
Rates network_rates(const State& state, const Network& network, std::size_t m);

}  // namespace ztp
