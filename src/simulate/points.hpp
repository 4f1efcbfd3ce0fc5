// Points of the mixture, component by component: the tables of one component stay in the cache while its points are
// drawn.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulate/alias.hpp"
#include "simulate/distinct_cells.hpp"
#include "simulate/truth.hpp"
#include "ztp/simulate.hpp"

namespace ztp {

class PointDrawer {
 public:
  PointDrawer(const SimulateOptions& options, SimulateProgress progress);

  const Truth& truth() const { return truth_; }
  // Fills the set with the wanted number of distinct ones.
  template <class Set>
  CollectedCells draw_ones(Set& cells);
  // Distinct edges i < j over a mode, as cells (i, j): both ends from the same column.
  CollectedCells draw_edges(std::size_t k, std::uint64_t wanted, KeySet& edges);
  void report(const std::string& what, double part) const {
    if (progress_) progress_(what, part);
  }

 private:
  static constexpr std::size_t chunk = 4096;
  using Ids = std::array<std::uint32_t, chunk>;

  // Which points of a round are whose: one stream for each component and chunk.
  static std::uint64_t stream_index(std::size_t r, std::size_t block) {
    return static_cast<std::uint64_t>(r) << 40 | block;
  }
  // Splits the points of a round over the components.
  std::vector<std::uint64_t> parts(std::uint32_t what, std::uint32_t round, std::uint64_t points) const;
  // The table of a column; kept if all tables together are small enough, else built into `scratch`.
  const AliasTable& table(std::size_t k, std::size_t r, AliasTable& scratch);
  template <class Set>
  void draw_component(Set& cells, std::uint32_t round, std::size_t r, std::uint64_t points);
  void draw_component_edges(KeySet& edges, std::size_t k, std::uint32_t round, std::size_t r, std::uint64_t points);

  Truth truth_;
  SimulateProgress progress_;
  bool keep_ = false;
  std::vector<AliasTable> tables_;   // K x R
  std::vector<AliasTable> scratch_;  // K
};

template <class Set>
CollectedCells PointDrawer::draw_ones(Set& cells) {
  const std::uint64_t wanted = truth_.options().ones;
  const std::string what = fmt::format("--ones {}", wanted);
  return collect_distinct(cells, wanted, what, [&](std::uint32_t round, std::uint64_t need) {
    const std::vector<std::uint64_t> of = parts(simulate_stream::parts, round, need);
    for (std::size_t r = 0; r < of.size(); ++r) {
      report("drawing", static_cast<double>(cells.size()) / static_cast<double>(wanted));
      if (of[r] > 0) draw_component(cells, round, r, of[r]);
    }
    report("sorting", 0);
  });
}

// reads the tables of component r; writes `points` cells behind the set; O(points K), and the tables' making.
template <class Set>
void PointDrawer::draw_component(Set& cells, std::uint32_t round, std::size_t r, std::uint64_t points) {
  const std::size_t order = truth_.options().dims.size();
  std::vector<const AliasTable*> tables;
  std::vector<StreamKey> keys;
  for (std::size_t k = 0; k < order; ++k) {
    tables.push_back(&table(k, r, scratch_[k]));
    keys.push_back(truth_.key(simulate_stream::points + static_cast<std::uint32_t>(k)));
  }
  Ids ids;
  const std::size_t first = cells.grow(points);
  for (std::size_t begin = 0, block = 0; begin < points; begin += chunk, ++block) {
    const std::size_t count = std::min<std::uint64_t>(chunk, points - begin);
    for (std::size_t k = 0; k < order; ++k) {
      tables[k]->draw(keys[k], round, stream_index(r, block), count, ids.data());
      cells.set(first + begin, count, k, ids.data());
    }
  }
}

}  // namespace ztp
