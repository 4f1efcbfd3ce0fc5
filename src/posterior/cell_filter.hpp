// Which cells may be recommended: those with the given entities, except training ones, excluded cells and entities, and
// cells (i, i) that cannot be ones.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/self_cells.hpp"
#include "posterior/cell_set.hpp"
#include "ztp/posterior.hpp"
#include "ztp/read.hpp"

namespace ztp {

using GivenEntities = std::vector<std::optional<std::uint32_t>>;

// Of each mode the entities that are left out, sorted.
using ExcludedEntities = std::vector<std::vector<std::uint32_t>>;
inline bool is_excluded(const ExcludedEntities& excluded, std::size_t k, std::uint32_t id) {
  return std::binary_search(excluded[k].begin(), excluded[k].end(), id);
}

class CellFilter {
 public:
  // Error (usage), if an entity is both given and excluded, or an id is none of its mode.
  CellFilter(const std::string& run_dir, const RunInfo& info, const FactorLayout& layout,
             const std::vector<Mode>& modes, GivenEntities given, const RecommendOptions& options);

  const GivenEntities& given() const { return given_; }
  const ExcludedEntities& excluded() const { return excluded_; }
  const MissingSelfCells& self() const { return self_; }
  // Of a cell that agrees with what is given, and whose entities are not excluded.
  bool skips(const std::uint32_t* cell) const {
    return self_.contains(cell) || data_.tensor.contains(cell) || excluded_cells_.contains(cell);
  }
  // Whether the data declare the cell missing; held-out cells are not declared so.
  bool is_missing(const std::uint32_t* cell) const;
  // Whether all cells that have this entity of a mode, and what is given, are in a missing slice.
  bool is_missing_entity(std::size_t k, std::uint32_t id) const;

  // Calls use(cell) for the training ones that agree with what is given.
  template <class Use>
  void for_ones(const Use& use) const {
    for (std::size_t e = 0; e < data_.tensor.nnz(); ++e)
      if (agrees(data_.tensor.cell(e))) use(data_.tensor.cell(e));
  }
  // Calls use(cell) for each cell that agrees with what is given and has no excluded entity, but is skipped; not for
  // cells (i, i).
  template <class Use>
  void for_skipped(const Use& use) const {
    const auto consider = [&](const std::uint32_t* cell) {
      if (!has_excluded_entity(cell) && !self_.contains(cell)) use(cell);
    };
    for_ones(consider);
    for (std::size_t e = 0; e < excluded_cells_.size(); ++e) {
      const std::uint32_t* cell = excluded_cells_.cell(e);
      if (agrees(cell) && !data_.tensor.contains(cell)) consider(cell);
    }
  }

 private:
  bool agrees(const std::uint32_t* cell) const {
    for (std::size_t k = 0; k < given_.size(); ++k)
      if (given_[k] && *given_[k] != cell[k]) return false;
    return true;
  }
  bool has_excluded_entity(const std::uint32_t* cell) const {
    for (std::size_t k = 0; k < given_.size(); ++k)
      if (is_excluded(excluded_, k, cell[k])) return true;
    return false;
  }
  void exclude(std::size_t k, std::vector<std::uint32_t> ids);

  GivenEntities given_;
  Dataset data_;  // ones, some of which may not agree with what is given, and missing cells
  MissingSelfCells self_;
  ExcludedEntities excluded_;
  CellSet excluded_cells_, held_out_;
};

}  // namespace ztp
