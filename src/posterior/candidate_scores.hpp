// Posterior mean probabilities of all entities of a mode, for a batch of queries: one pass over the draws.
#pragma once
#include <vector>

#include "base/pool.hpp"
#include "kernel/cpu/candidates.hpp"
#include "model/open_rates.hpp"
#include "model/state.hpp"
#include "posterior/queries.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

// How many queries and draws are held at a time. The scores of the queries, 4 bytes per entity, and their weights in
// one draw fit into `memory`, unless there are only 8 queries; the draws fit into 64 MiB, unless there is only one.
struct RankingPlan {
  std::size_t queries = 0;  // a multiple of 8
  std::size_t draws = 0;
};
// columns: of the factor matrix of the mode.
RankingPlan plan_ranking(std::size_t entities, std::size_t columns, std::size_t queries, std::size_t draws,
                         std::size_t memory);

class CandidateScores {
 public:
  CandidateScores(std::size_t entities, std::size_t columns, const RankingPlan& plan, Pool& pool);

  void begin(const Queries& queries, std::size_t first, std::size_t count);  // a batch: queries first..first+count-1
  void add(const State& state);  // a draw; sums follow when as many as planned are there
  void finish();                 // sums of the draws so far; call it after the last
  // Scores of the batch's query b: sums over the draws, which rank as means do. The caller may overwrite them.
  float* of(std::size_t b) { return sums_.row(b); }

 private:
  struct Draw {
    Matrix<float> panels;
    Buffer<float> weights, scale;
  };
  // The weights of query b, once the entities of its other modes are given.
  void pack_weights(const State& state, OpenRates rates, std::size_t b, Draw& draw) const;

  std::size_t P_;  // columns of the matrix of the mode
  Pool& pool_;
  const Queries* queries_ = nullptr;
  std::size_t first_ = 0, count_ = 0;
  std::vector<Draw> draws_;
  std::size_t held_ = 0;  // draws that are not in the sums yet
  Matrix<float> sums_;    // queries x entities, both padded
};

}  // namespace ztp
