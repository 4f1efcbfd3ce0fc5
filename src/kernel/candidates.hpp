// Ranking: probabilities of all entities of a mode, for many queries at once, and the ranks of the test ones among
// them. A kernel makes it (Kernel::candidates), so that scores, by far the largest array here, stay where it computes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/chain_average.hpp"
#include "evaluate/ranking.hpp"
#include "model/state.hpp"

namespace ztp {

// Lists of entities of a mode, one for each query; sorted.
struct EntityLists {
  const std::size_t* begin = nullptr;  // one more than there are lists
  const std::uint32_t* entities = nullptr;
  std::span<const std::uint32_t> of(std::size_t b) const { return {entities + begin[b], begin[b + 1] - begin[b]}; }
};

// Queries of one mode: its entity is to be found, all others are given.
struct QueryBatch {
  std::size_t mode = 0;
  std::size_t count = 0;
  const std::uint32_t* others = nullptr;  // count x (K - 1): the entities of the other modes, in their order
  EntityLists tests = {}, known = {};     // what is to be found, and what is no rival; known ones may be tests, too
};

// What there is room for depends on these.
struct CandidateSettings {
  std::size_t mode = 0;     // of all batches
  std::size_t queries = 0;  // in all of them together
  std::size_t memory = 0;   // of the host, for scores and weights; a device has its own
  ChainDraws chains;        // the draws that are added, and how they are combined
};

class CandidateRanking {
 public:
  virtual ~CandidateRanking() = default;
  virtual std::size_t most_queries() const = 0;  // in a batch

  // A batch begins. It refers to the arrays of the host until the next one.
  virtual void begin(const QueryBatch& batch) = 0;
  // The next draw, in the order of the chains. O(queries entities columns).                           (M2), (M16)
  virtual void add(const State& draw) = 0;
  // After the last draw: of each entity, what ranks them. Sums of floats, but in the reference.
  virtual std::vector<float> scores(std::size_t query) = 0;
  // After the last draw, once: how the tests of each query stand among its rivals, by sums of probabilities over the
  // draws or of logits over the chains, which rank as combined probabilities do.
  virtual std::vector<std::vector<TiedOnes>> standings() = 0;
};

}  // namespace ztp
