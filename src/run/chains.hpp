// The chains of a run, batch or online, and the minibatches of online ones.
#pragma once
#include <memory>
#include <vector>

#include "sampler/count_chain.hpp"
#include "sampler/minibatches.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

class Chains {
 public:
  // Refers to all of these.
  Chains(const Problem& problem, const Dataset& data, const FitOptions& complete, Kernel& kernel);
  std::unique_ptr<CountChain> make(std::uint32_t number) const;

 private:
  const Problem& problem_;
  const FitOptions& options_;
  Kernel& kernel_;
  std::unique_ptr<Minibatches> ones_;                // online
  std::vector<std::unique_ptr<Minibatches>> edges_;  // likewise, of each network
};

}  // namespace ztp
