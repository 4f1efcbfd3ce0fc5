// Moves that redraw which component the counts of the ones belong to, with u, lambda and p integrated out (docs/model.md, section
// 6). Plain Gibbs sweeps hold the parameters fixed while counts move and the counts fixed while parameters move, which is slow, and
// they hardly ever make a component or end one.
#pragma once
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "model/state.hpp"
#include "sampler/split_merge.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// One Gibbs scan over the counts of the ones, and then splits and merges of components.
class Regroup {
 public:
  Regroup(const SparseTensor& tensor, const WeightPrior& prior, std::size_t R);

  // `allocation`: the parts of all ones, whose sums the statistics hold beside the counts of missing cells and networks, which stay
  // where they are.                                                                                     (M22), (M23)
  // Reads the allocation, changes the statistics; serial, O(counts R K).
  void run(const Allocation& allocation, const SplitMerge::Given& given, const Streams& streams,
           Statistics& statistics);

 private:
  bool too_many(const Allocation& allocation) const;
  void load(const Allocation& allocation, Stream stream);  // tokens_
  void scan(Stream stream);
  double column_factor(std::size_t k, std::size_t r) const;
  void set_factor(std::size_t r);                                          // after a change of the counts of r
  void change(const std::uint32_t* cell, std::size_t r, std::int64_t by);  // puts a token there, or takes it away
  std::size_t draw_component(const std::uint32_t* cell, double uniform);
  std::size_t draw_in_logs(const std::uint32_t* cell, double uniform);

  const SparseTensor& tensor_;
  WeightPrior prior_;  // with the g in use
  std::size_t R_, K_;
  std::vector<double> sizes_;  // n_k
  Tokens tokens_;
  SplitMerge split_merge_;
  // Where everything is a one, latent counts have no upper limit. A sweep with more is left as it is; the moves do not change their
  // number, so that does no harm to the law.
  std::int64_t most_tokens_;
  const SplitMerge::Given* given_ = nullptr;
  Statistics* statistics_ = nullptr;
  std::vector<double> factor_;   // R, padded: the rest of the predictive probability (M22)
  std::vector<double> product_;  // R, padded
};

}  // namespace ztp
