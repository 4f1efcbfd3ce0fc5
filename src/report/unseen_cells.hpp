// The most probable cells that are not training ones, of very many entities at once, and why they are probable.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "report/shown_entities.hpp"
#include "ztp/buffer.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

inline constexpr std::size_t unseen_of_entity = 5;  // cells

struct UnseenCells {
  struct Entity {
    std::uint32_t id = 0;
    std::vector<std::size_t> cells;  // which of those below, most probable first
  };
  std::vector<std::vector<Entity>> modes;                // the entities of each mode, by place
  Buffer<std::uint32_t> cells;                           // x K
  std::vector<Prediction> predictions;                   // of Posterior::predict
  std::vector<std::vector<Recommendation::Part>> parts;  // of Posterior::explain
  std::vector<std::optional<bool>> held_out;             // whether it is a one, if it is a test cell of the run
};

// Finds the unseen cells of the shown entities with most ones, and of some without any. Candidates come from
// PromisingCells; their predictions are as exact as those of Posterior::recommend. Takes one or a few passes over the
// ones, two over the draws, and one over the test cells of the run.
UnseenCells find_unseen(const std::string& run_dir, const Dataset& data, Posterior& posterior,
                        const ShownEntities& shown, Pool& pool);

}  // namespace ztp
