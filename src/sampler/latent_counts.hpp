// The latent counts of data and of what is missing, given the parameters: the half of a sweep that batch and online
// share.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/kernel.hpp"
#include "sampler/problem.hpp"

namespace ztp {

class LatentCounts {
 public:
  LatentCounts(const Problem& problem, Kernel& kernel, std::uint32_t chain);
  // Takes the list of missing cells, all of which impute_missing then imputes. Without this it imputes the slices
  // alone.
  void upload_missing_cells();
  // Makes room for this many ones at once, and for edges and what is missing.
  void reserve(std::size_t ones);

  // Latent counts of ones.                                                                            (M3), (M4)
  // Reads the state, adds into the statistics, O(count R K). Returns their log-likelihood without the rate of all
  // cells.
  double draw_counts_of_ones(const Ones& ones, const State& state, const DrawSettings& settings,
                             Statistics& statistics) const;
  // Every one in a random component.
  void start(const Ones& ones, Statistics& statistics) const;
  // Latent counts of the missing cells, each exactly once: slices mode by mode, then the list.        (M17), (M18)
  // Reads the state, adds into the statistics, O(list R K + R sum_k n_k). Returns the rate of all missing cells.
  double impute_missing(const State& state, const DrawSettings& settings, Statistics& statistics) const;
  // Of these missing cells alone.                                                                             (M17)
  double impute_cells(const Ones& cells, const State& state, const DrawSettings& settings,
                      Statistics& statistics) const;

  StreamKey key(Purpose purpose, std::size_t mode = 0) const;

 private:
  double impute_slices(std::size_t k, const State& state, const DrawSettings& settings, Statistics& statistics) const;

  const Problem& problem_;
  Kernel& kernel_;
  std::uint32_t chain_;
  std::vector<std::vector<std::uint8_t>> in_slice_;  // for each mode with missing slices, one for each missing entity
  std::unique_ptr<Ones> missing_;                    // the list of missing cells; null: none, or in other hands
};

// Whether all cells of some entities are missing.
bool has_slices(const Problem& problem);
// For each mode with missing slices, one for each missing entity; empty for the others.
std::vector<std::vector<std::uint8_t>> slice_masks(const Problem& problem);
// What counts of the tensor's cells are added to.
CountSums sums_of_tensor(const FactorLayout& layout, Statistics& statistics);

}  // namespace ztp
