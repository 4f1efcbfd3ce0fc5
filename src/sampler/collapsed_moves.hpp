// The moves of the collapsed sampler: they redraw which component the counts of the ones belong to, with u, lambda and
// p integrated out (docs/model.md, section 6). Plain Gibbs sweeps hold the parameters fixed while counts move and the
// counts fixed while parameters move, which is slow, and they hardly ever make a component or end one.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/kernel.hpp"
#include "sampler/split_merge.hpp"

namespace ztp {

// One Gibbs scan over the counts of the ones, and then splits and merges of components. For CP: column r is component r
// in every mode.
class CollapsedMoves {
 public:
  CollapsedMoves(const SparseTensor& tensor, const WeightPrior& prior, const FactorLayout& layout)
      : CollapsedMoves(tensor, prior, layout, std::make_unique<SplitMerge>(tensor, layout.components())) {}
  // With splits and merges of another kind, for tests that plant bugs in them.
  CollapsedMoves(const SparseTensor& tensor, const WeightPrior& prior, const FactorLayout& layout,
                 std::unique_ptr<SplitMerge> split_merge);

  // `allocation`: the parts of all ones, whose sums the statistics hold beside the counts of missing cells and
  // networks, which stay where they are.                                                                 (M22), (M23)
  // Reads the allocation, changes the statistics; serial, O(counts R K).
  void run(const Allocation& allocation, const CollapsedInputs& inputs, const Streams& streams, Statistics& statistics);
  // Bytes that it takes, with the allocation.
  static std::size_t bytes(const SparseTensor& tensor, const FactorLayout& layout);

 private:
  bool too_many(const Allocation& allocation, const CollapsedInputs& inputs, const Statistics& statistics) const;
  void load_tokens(const Allocation& allocation, Stream stream);
  void scan(TokenCounts& counts, const WeightPrior& prior, Stream stream);
  void set_factor(const TokenCounts& counts, const WeightPrior& prior, std::size_t r);  // after its counts changed
  std::size_t draw_component(const TokenCounts& counts, const WeightPrior& prior, const std::uint32_t* cell,
                             double uniform);
  std::size_t draw_in_logs(const TokenCounts& counts, const WeightPrior& prior, const std::uint32_t* cell,
                           double uniform);

  const SparseTensor& tensor_;
  const WeightPrior prior_;
  std::size_t R_, K_;
  // Where everything is a one, latent counts have no upper limit. A sweep with more tokens skips the moves. Since they
  // do not change this number, the distribution stays the same.
  std::int64_t most_tokens_;
  // Memory that is used again in every run.
  Tokens tokens_;
  std::vector<Matrix<double>> S_;  // as in TokenCounts
  std::vector<double> factor_;     // R, padded: the rest of the predictive probability (M22)
  std::vector<double> product_;    // R, padded
  std::unique_ptr<SplitMerge> split_merge_;
};

}  // namespace ztp
