// Ranking on a GPU: all scores stay there.
#pragma once
#include <mutex>
#include <vector>

#include "kernel/cuda/draw_counts.hpp"
#include "kernel/cuda/listed_components.hpp"

namespace ztp::cuda {

// Components of a list that have been sent with a Staging.
class StagedComponents {
 public:
  StagedComponents(const ListedComponents& listed, Staging& staging);
  // factors: of each matrix of the layout. sent: where the Staging has sent it.
  ListedRates rates(const unsigned char* sent, const FactorLayout& layout,
                    const std::vector<const Factors*>& factors) const;

 private:
  const ListedComponents& listed_;
  std::size_t weight_, segment_, open_column_, group_;
  std::vector<std::size_t> column_;
};

class CudaCandidates final : public CandidateRanking {
 public:
  // gpu: whoever uses the GPU locks it.
  CudaCandidates(const FactorLayout& layout, const CandidateSettings& settings, std::mutex& gpu);

  std::size_t most_queries() const override { return most_queries_; }
  void begin(const QueryBatch& batch) override;
  void add(const State& draw) override;
  std::vector<float> scores(std::size_t query) override;
  std::vector<std::vector<TiedOnes>> standings() override;

 private:
  CandidateArrays arrays() const;

  std::mutex& gpu_;
  const ChainDraws chains_;
  std::size_t n_, P_, modes_;  // rows and columns of the matrix of the mode
  std::size_t most_queries_;
  QueryBatch batch_;
  std::size_t added_ = 0, chain_ = 0;
  Staging staging_;
  DeviceBuffer<std::uint32_t> others_;
  DeviceBuffer<float> weights_, weights_by_column_, factors_by_column_, scale_, sums_, logits_;
  DeviceBuffer<QueryEntity> tests_, dropped_;
  DeviceBuffer<QueryPlace> places_;
};

}  // namespace ztp::cuda
