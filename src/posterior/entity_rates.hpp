// The rates of the entities of one mode at each draw, where some modes are given and all others are summed out:
//   z_j = sum over the cells that have entity j, what is given, and no excluded entity
// A sum over a mode is a sum of factors, so it takes no longer than one cell:
//   z_j = scale sum_r weight[r] U[j, c(r, k)] prod over the summed modes h of sum_i U^t(h)[i, c(r, h)]
// Of tied modes, cells (i, i) that cannot be are left out.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/pool.hpp"
#include "model/open_rates.hpp"
#include "posterior/cell_filter.hpp"
#include "store/draws_file.hpp"

namespace ztp {

class EntityRates {
 public:
  // Refers to draws, filter and pool.
  EntityRates(const DrawsFile& draws, std::size_t mode, const CellFilter& filter, Pool& pool);

  // How many cells an entity stands for; training ones and excluded cells count.
  double cells(std::uint32_t id) const;
  // z of each of these entities (ascending) at draw d.
  void rates(std::size_t d, std::span<const std::uint32_t> ids, double* z) const;
  // Its parts: R numbers for each of these entities.
  void parts(std::size_t d, std::span<const std::uint32_t> ids, double* parts) const;
  const FactorLayout& layout(std::size_t d) const { return layouts_[d]; }

 private:
  void sum_out(std::size_t d, std::size_t k);
  void sum_out_pairs(std::size_t d, std::size_t k, std::size_t l);
  std::vector<double> column_sums(std::size_t d, std::size_t k) const;
  void give(std::size_t d, std::size_t k, std::uint32_t id);
  // Calls use(place, row) for the rows of these entities; no row of a one-hot mode.
  template <class Use>
  void for_rows(std::size_t d, std::span<const std::uint32_t> ids, const Use& use) const;

  const DrawsFile& draws_;
  const std::size_t mode_;
  const CellFilter& filter_;
  Pool& pool_;
  bool one_hot_;
  std::vector<FactorLayout> layouts_;  // of each draw; rates refer to them
  std::vector<OpenRates> rates_;       // at each draw: the mode is open, and no other
  // Where the mode is tied with one that is summed out, and cells (i, i) cannot be: its twin, and the rates with both
  // open.
  std::optional<std::size_t> twin_;
  std::vector<OpenRates> with_twin_;
};

}  // namespace ztp
