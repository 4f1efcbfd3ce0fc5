// Candidates for the most probable cells of very many entities: a search with the mean factors of the chains instead of
// all draws, along the main components of the entity. Posterior::recommend is exact, and takes a second for each
// entity.
//
// The five cells that a report shows were those of recommend for 494 of 494 entities of runs of small tensors (world
// with one chain and with four, UMLS), and for 74 of 74 entities of Scholars (1.3 million ones, R = 100, two chains).
// With lists and beams twice as large, 99.9 % of 6,004 entities of Scholars have the same cells.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/open_rates.hpp"
#include "store/draws_file.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

class PromisingCells {
 public:
  PromisingCells(const std::string& run_dir, Posterior& posterior);
  PromisingCells(const PromisingCells&) = delete;
  PromisingCells& operator=(const PromisingCells&) = delete;

  struct Found {
    std::vector<std::uint32_t> cells;  // x K, most probable first, by the mean factors
    bool all = false;                  // that the search has
  };
  // Zeros for each entity of a mode, before and after a call: clearing them for each call would take too long.
  struct Scratch {
    std::vector<double> rate, probability;
  };
  // Enough cells that about `zeros` of them are zeros, if the model is right. Threads may call it in parallel, each
  // with its own scratch.
  Found of(std::size_t mode, std::uint32_t entity, double zeros, Scratch& scratch) const;

 private:
  // The means of a chain or, where components share columns, a draw. Its factors are divided by the largest number of
  // their column, and its rates multiplied by these numbers.
  struct Chain {
    double part = 0;                       // of all draws that are looked at
    std::unique_ptr<FactorLayout> layout;  // does not move: the rates refer to it
    OpenRates rates;                       // its parts are the rates of the largest cell of each component
    std::vector<std::vector<float>> u;     // of each mode, entities x columns, at most one
    // Of each mode and column the entities with the largest u.
    std::vector<std::vector<std::vector<std::uint32_t>>> top;
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
  void add_chain(Posterior& posterior, std::size_t c);
  void add_draw(const DrawsFile& draws, std::size_t i);
  void add_mode(std::vector<float> u, std::size_t k, Chain& chain) const;
  // u of an entity, relative to the largest, in a main component.
  float relative(const Main& main, std::size_t mode, std::uint32_t id) const;
  std::vector<Main> main_components(std::size_t mode, std::uint32_t entity) const;
  std::vector<std::uint32_t> candidates(std::size_t mode, const std::vector<Main>& main, Scratch& scratch) const;
  // All cells with each of these entities, and of these the most probable: at most so many, and with no more zeros
  // among them.
  Beam extended(const Beam& beam, std::size_t mode, const std::vector<std::uint32_t>& ids,
                const std::vector<Main>& main, std::size_t most, double zeros) const;

  FactorLayout layout_;  // of the matrices
  std::size_t K_;
  std::size_t most_main_, most_of_mode_;  // main components of a chain, and candidates of a mode
  std::vector<std::size_t> order_;        // in which modes are added to cells: one-hot ones first
  std::vector<Chain> chains_;
};

}  // namespace ztp
