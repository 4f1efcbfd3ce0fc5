// Posterior mean probabilities of all entities of a mode, for a batch of queries: one pass over the draws.
#pragma once
#include <vector>

#include "base/pool.hpp"
#include "evaluate/chain_average.hpp"
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
// logits: those of chains are averaged, which takes a second score.
RankingPlan plan_ranking(std::size_t entities, std::size_t columns, std::size_t queries, std::size_t draws,
                         std::size_t memory, bool logits = false);

class CandidateScores {
 public:
  CandidateScores(std::size_t entities, std::size_t columns, const RankingPlan& plan, const ChainDraws& chains,
                  Pool& pool);

  void begin(const Queries& queries, std::size_t first, std::size_t count);  // a batch: queries first..first+count-1
  // The next draw; sums follow when as many as planned are there, and at the end of a chain.
  void add(const State& state);
  // Scores of the batch's query b after the last draw: sums over the draws or over the logits of chains, which rank as
  // combined probabilities do. The caller may overwrite them.
  float* of(std::size_t b) { return chains_.logits ? logits_.row(b) : sums_.row(b); }

 private:
  struct Draw {
    Matrix<float> panels;
    Buffer<float> weights, scale;
  };
  void sum_up();     // the draws that are held
  void end_chain();  // turns its sums into logits
  // The weights of query b, once the entities of its other modes are given.
  void pack_weights(const State& state, OpenRates rates, std::size_t b, Draw& draw) const;

  std::size_t P_;  // columns of the matrix of the mode
  const ChainDraws& chains_;
  Pool& pool_;
  const Queries* queries_ = nullptr;
  std::size_t first_ = 0, count_ = 0;
  std::vector<Draw> draws_;
  std::size_t held_ = 0;   // draws that are not in the sums yet
  std::size_t added_ = 0;  // draws of the batch so far
  std::size_t chain_ = 0;  // that the next draw is of
  Matrix<float> sums_;     // queries x entities, both padded
  Matrix<float> logits_;   // likewise: sums over chains; empty, if not needed
};

}  // namespace ztp
