// The chains of a fit of the model, batch or online, and the data in minibatches.
#pragma once
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "sampler/minibatches.hpp"
#include "sampler/online_chain.hpp"
#include "sampler/poisson_chain.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

// The ones, the edges of each network and the listed missing cells, in minibatches. Chains that run one after the other
// share them.
struct OwnedMinibatches {
  std::unique_ptr<Minibatches> ones;
  std::vector<std::unique_ptr<Minibatches>> edges;
  std::unique_ptr<Minibatches> missing;  // null: no cells are listed

  DataInMinibatches data() const;
};
// `parts`: minibatches of the ones; `edge_parts`: of the edges of a network; `counts`: whether those of a file are
// used. Minibatches of missing cells are as large as those of the ones, but not larger than a chunk of a file: all
// cells, if they are so few. Refers to the file.
OwnedMinibatches make_minibatches(const Dataset& data, const FactorLayout& layout, std::size_t parts,
                                  std::size_t edge_parts, bool counts, Kernel& kernel);
// How many minibatches of `wanted` ones there are in so many.
std::size_t minibatch_count(std::uint64_t ones, std::int64_t wanted);
// The most missing cells in a minibatch, where one of the ones has so many.
std::size_t missing_in_minibatch(std::size_t ones);

class ChainFactory {
 public:
  // Keeps references to the data, the pool and the ranks that share a chain; null: this process alone.
  ChainFactory(const FitOptions& complete, const Dataset& data, Pool& pool, Comm* ranks = nullptr);
  std::unique_ptr<PoissonChain> make(std::uint32_t number) const;
  // Of the processes that share a chain: the ones of that which has most, beside their mean.
  double busiest() const { return busiest_; }

 private:
  const Problem problem_;
  const OnlineOptions online_;
  double busiest_ = 1;
  const std::unique_ptr<Kernel> kernel_;
  OwnedMinibatches minibatches_;  // none in batch
};

}  // namespace ztp
