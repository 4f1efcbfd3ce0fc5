// Cells of an entity that may be among its most probable ones, for very many entities: found by the mean factors of the chains instead of
// all draws, and by way of the components that the entity has most of. Posterior::recommend is exact and takes a second for each.
//
// How often the five cells that a report shows are those of recommend was counted: for 494 of 494 entities of runs of small tensors
// (world with one chain and with four, UMLS), and for 74 of 74 of Scholars (1.3 million ones, R = 100, two chains). With lists and
// beams twice as large, 99.9 % of 6,004 entities of Scholars have the same cells.
#pragma once
#include <cstdint>
#include <vector>

#include "ztp/posterior.hpp"

namespace ztp {

class PromisingCells {
 public:
  explicit PromisingCells(Posterior& posterior);

  struct Found {
    std::vector<std::uint32_t> cells;  // x K, most probable first, by the mean factors
    bool all = false;                  // that the search has
  };
  // Zeros for each entity of a mode, and zeros again afterwards: large modes have no time to make them for each call.
  struct Scratch {
    std::vector<double> rate, probability;
  };
  // As many that, if the model is right, so many of them are zeros. May be called by several threads at once, each with its scratch.
  Found of(std::size_t mode, std::uint32_t entity, double zeros, Scratch& scratch) const;

 private:
  // A chain whose factors are divided by the largest number of their column, and its weights multiplied by them.
  struct Chain {
    double part = 0;                                           // of all draws
    std::vector<double> weight;                                // R: the rate of the component's largest cell
    std::vector<std::vector<float>> u;                         // K x (n x R), at most one
    std::vector<std::vector<std::vector<std::uint32_t>>> top;  // K x R: the entities with the largest u
  };
  // A component of a chain that an entity has much of.
  struct Main {
    std::size_t chain, component;
    double rate;  // of the largest cell that it gives the entity
  };
  // Cells of which some modes are chosen: what the main components have of each.
  struct Beam {
    std::vector<std::uint32_t> cells;  // x K
    std::vector<float> product;        // x main components: of u in the modes that are chosen
    std::vector<double> probability;   // with all other modes as large as can be
    bool all = false;                  // nothing was left out
    std::size_t size() const { return probability.size(); }
  };
  std::vector<Main> main_components(std::size_t mode, std::uint32_t entity) const;
  std::vector<std::uint32_t> candidates(std::size_t mode, const std::vector<Main>& main, Scratch& scratch) const;
  // All cells with each of these entities, and of these the most probable: at most so many, and with no more zeros among them.
  Beam extended(const Beam& beam, std::size_t mode, const std::vector<std::uint32_t>& ids,
                const std::vector<Main>& main, std::size_t most, double zeros) const;

  std::size_t K_, R_;
  std::vector<Chain> chains_;
};

}  // namespace ztp
