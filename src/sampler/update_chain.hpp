// A chain that takes in new data: what it knew stays, and what is new is added, each datum once (docs/model.md, section
// 8).
#pragma once
#include "sampler/online_chain.hpp"

namespace ztp {

// Its statistics are those of the chain that ended before, put there by the caller. The first step filters: edges, then
// the ones minibatch by minibatch, each looked at with the parameters that all before it have led to. Further steps
// draw the counts of the new data anew, all at once, given what the old data left: a Gibbs sampler of the new counts
// alone.    (M29)
class UpdateChain final : public OnlineChain {
 public:
  // problem.networks: the new edges. With options.looks of more than one, what was known is kept apart.
  using OnlineChain::OnlineChain;

  void start() override;
  double step(bool likelihood) override;
  bool knows_likelihood() const override { return false; }  // of the old data nothing is known but their statistics

 private:
  void filter();
  void draw_again();
  void add_all_edges(double weight, const DrawSettings& settings);
  void add_part(std::uint32_t b, double weight, const DrawSettings& settings);

  Statistics old_;  // what was known, if there are several looks
};

}  // namespace ztp
