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
  double draw_counts_of_ones(const Entries& ones, const State& state, const How& how, Statistics& statistics) const;
  // Latent counts of the missing cells, each exactly once: slices mode by mode, then the list.        (M17), (M18)
  // Reads the state, adds into the statistics, O(list R K + R sum_k n_k). Returns the rate of all missing cells.
  double impute_missing(const State& state, const How& how, Statistics& statistics) const;
  // What these and networks share: latent counts of entries with these rates, added into `sums`.      (M3), (M4), (M17)
  // O(count R K). Returns the log-likelihood of the entries, of missing ones their rate.
  double draw(Entries entries, const Rates& rates, StreamKey key, const How& how, const Sums& sums) const;

  StreamKey key(Purpose purpose, std::size_t mode = 0) const;

 private:
  double impute_slices(std::size_t k, const State& state, const How& how, Statistics& statistics) const;

  const Problem& problem_;
  Kernel& kernel_;
  std::uint32_t chain_;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // for each mode with missing slices, one for each missing entity
};

// The same sums of counts that are worth what `how` says.
Sums weighted(Sums sums, const LatentCounts::How& how);

}  // namespace ztp
