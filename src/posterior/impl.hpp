// What the parts of Posterior share.
#pragma once
#include "base/pool.hpp"
#include "io/table.hpp"
#include "kernel/kernel.hpp"
#include "model/ranking.hpp"
#include "posterior/queries.hpp"
#include "store/draws_file.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

struct Posterior::Impl {
  Impl(const std::string& dir, unsigned threads);
  // Loads draw i, and the rates z of cells at it; of a rival their logits.
  void score(std::size_t i, const std::uint32_t* coords, std::size_t count, double* z);
  // From a rate or a logit to a probability.                                                               (M16), (M32)
  double probability(double z) const;
  // Error (config), if the run is of a rival, whose factors have either sign.
  void require_rates(const char* what) const;
  std::vector<double> mean_probabilities(const std::uint32_t* coords, std::size_t count);  // one pass over the draws

  RankingSums rank_mode(const Queries& queries, const std::vector<std::size_t>& chosen, const RankingOptions& options,
                        const std::function<void(double)>& step);

  std::string run_dir;
  RunInfo info;
  bool rival;  // with signed factors
  std::vector<Mode> modes;
  Pool pool;
  std::unique_ptr<Kernel> kernel;
  DrawsFile draws;
  State state;  // the draw that was loaded last
};


// The parts of a cell's rate that the components have, z_r, and their sum z.                            (M2)
double rate_parts(const Rates& rates, const std::uint32_t* cell, std::vector<double>& parts);

// Quantile q of sorted values, interpolating linearly between order statistics.
double quantile(const float* sorted, std::size_t count, double q);

}  // namespace ztp
