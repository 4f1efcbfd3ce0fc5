// Ranking by plain loops in double precision.
#pragma once
#include <vector>

#include "kernel/candidates.hpp"
#include "kernel/kernel.hpp"

namespace ztp {

class ReferenceCandidates final : public CandidateRanking {
 public:
  ReferenceCandidates(Kernel& kernel, const FactorLayout& layout, const CandidateSettings& settings);

  std::size_t most_queries() const override;
  void begin(const QueryBatch& batch) override;
  void add(const State& draw) override;
  std::vector<float> scores(std::size_t query) override;
  std::vector<std::vector<TiedOnes>> standings() override;

 private:
  Kernel& kernel_;  // scores cells
  std::size_t n_;   // entities of the mode
  ChainDraws chains_;
  QueryBatch batch_;
  std::vector<double> sums_, logits_;  // queries x entities: of the chain, of all chains
  std::size_t added_ = 0, chain_ = 0;
};

}  // namespace ztp
