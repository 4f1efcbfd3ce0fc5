// Ranking on the host. Draws may be in the memory of any kernel: they are read through their handles.
#pragma once
#include <vector>

#include "base/pool.hpp"
#include "kernel/candidates.hpp"
#include "kernel/cpu/candidates.hpp"
#include "model/open_rates.hpp"
#include "ztp/buffer.hpp"

namespace ztp::cpu {

// How many queries and draws are held at a time. The scores of the queries, 4 bytes per entity, and their weights in
// one draw fit into `memory`, unless there are only 8 queries; the draws fit into 64 MiB, unless there is only one.
struct RankingPlan {
  std::size_t queries = 0;  // a multiple of 8
  std::size_t draws = 0;
};
// columns: of the factor matrix of the mode.
// logits: those of chains are averaged, which takes a second score.
RankingPlan plan_ranking(std::size_t entities, std::size_t columns, std::size_t queries, std::size_t draws,
                         std::size_t memory, bool logits = false);

class CandidateScores final : public CandidateRanking {
 public:
  CandidateScores(const FactorLayout& layout, CandidateSettings settings, Pool& pool);

  std::size_t most_queries() const override { return plan_.queries; }
  void begin(const QueryBatch& batch) override;
  // Sums follow when as many draws as planned are there, and at the end of a chain.
  void add(const State& state) override;
  std::vector<float> scores(std::size_t b) override { return {of(b), of(b) + n_}; }
  // Overwrites the scores.
  std::vector<std::vector<TiedOnes>> standings() override;

 private:
  float* of(std::size_t b) { return chains_.logits ? logits_.row(b) : sums_.row(b); }
  struct Draw {
    Matrix<float> panels;
    Buffer<float> weights, scale;
  };
  void sum_up();     // the draws that are held
  void end_chain();  // turns its sums into logits
  // The weights of query b, once the entities of its other modes are given.
  void pack_weights(const State& state, OpenRates rates, std::size_t b, Draw& draw) const;

  std::size_t n_, P_;  // rows and columns of the matrix of the mode
  const ChainDraws chains_;
  RankingPlan plan_;
  Pool& pool_;
  QueryBatch batch_;
  std::vector<Draw> draws_;
  std::size_t held_ = 0;   // draws that are not in the sums yet
  std::size_t added_ = 0;  // draws of the batch so far
  std::size_t chain_ = 0;  // that the next draw is of
  Matrix<float> sums_;     // queries x entities, both padded
  Matrix<float> logits_;   // likewise: sums over chains; empty, if not needed
};

}  // namespace ztp::cpu
