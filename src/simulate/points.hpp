// Points of the mixture, component by component: the tables of one component stay in the cache meanwhile.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "simulate/alias.hpp"
#include "simulate/distinct_cells.hpp"
#include "simulate/truth.hpp"
#include "ztp/simulate.hpp"

namespace ztp {

struct CollectedCells {
  std::uint64_t points = 0;
  unsigned rounds = 0;
};

class PointDrawer {
 public:
  PointDrawer(const SimulateOptions& options, SimulateProgress progress);

  const Truth& truth() const { return truth_; }
  // Fills the set with the wanted number of distinct ones.
  template <class Set>
  CollectedCells draw_ones(Set& cells) {
    const std::uint64_t wanted = truth_.options().ones;
    return collect(cells, wanted, fmt::format("--ones {}", wanted), "drawing", simulate_stream::parts,
                   [&](std::uint32_t round, std::size_t r, std::uint64_t points) {
                     if (truth_.has_relations())
                       draw_relation(cells, round, r, points);
                     else
                       draw_component(cells, round, r, points);
                   });
  }
  // Distinct edges i < j over a mode, as cells (i, j): both ends from the same column.
  KeySet draw_edges(std::size_t k, std::uint64_t wanted);
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
  // Fills the set up to `wanted` distinct cells; draw(round, r, points) appends points of component r. A round never
  // draws more points than cells are missing, so the result is that of drawing points one by one until enough distinct
  // cells are hit. Error (config) after too many rounds.
  template <class Set, class Draw>
  CollectedCells collect(Set& set, std::uint64_t wanted, const std::string& flag, const char* doing,
                         std::uint32_t parts_stream, Draw draw);
  // Splits the points of a round over the components.
  std::vector<std::uint64_t> parts(std::uint32_t what, std::uint32_t round, std::uint64_t points) const;
  // The table of a column; kept if all tables together are small enough, else built into `scratch`.
  const AliasTable& table(std::size_t k, std::size_t r, AliasTable& scratch);
  // The same where subject and object are entities of one set: none relates to itself, a later round draws another.
  template <class Set>
  void draw_relation(Set& cells, std::uint32_t round, std::size_t r, std::uint64_t points);
  template <class Set>
  void draw_component(Set& cells, std::uint32_t round, std::size_t r, std::uint64_t points);
  void draw_component_edges(KeySet& edges, std::size_t k, std::uint32_t round, std::size_t r, std::uint64_t points);

  Truth truth_;
  SimulateProgress progress_;
  bool keep_ = false;
  std::vector<AliasTable> tables_;   // K x R
  std::vector<AliasTable> scratch_;  // K
};

template <class Set, class Draw>
CollectedCells PointDrawer::collect(Set& set, std::uint64_t wanted, const std::string& flag, const char* doing,
                                    std::uint32_t parts_stream, Draw draw) {
  // 60 rounds end with less than one part in 10^7 missing even where three of four points hit a cell that is there
  // already. Small sets, whose rounds are cheap, get more.
  const auto most_rounds = static_cast<unsigned>(std::clamp<std::uint64_t>(20'000'000 / wanted, 60, 10'000));
  CollectedCells collected;
  set.reserve(wanted);
  for (; set.size() < wanted; ++collected.rounds) {
    const std::size_t have = set.size();
    if (collected.rounds == most_rounds)
      throw config_error(
          "{}: only {} of {} are distinct after {} rounds of drawing: the components are too small or too uneven for "
          "so many; ask for fewer, or for larger modes",
          flag, have, wanted, most_rounds);
    const std::vector<std::uint64_t> points = parts(parts_stream, collected.rounds, wanted - have);
    for (std::size_t r = 0; r < points.size(); ++r) {
      report(doing, static_cast<double>(set.size()) / static_cast<double>(wanted));
      if (points[r] > 0) draw(collected.rounds, r, points[r]);
    }
    report("sorting", 0);
    set.merge(have);
    collected.points += wanted - have;
  }
  return collected;
}

// Reads the tables of component r; writes `points` cells behind the set; O(points K), and the tables' making.
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

template <class Set>
void PointDrawer::draw_relation(Set& cells, std::uint32_t round, std::size_t r, std::uint64_t points) {
  std::array<Ids, 3> ids;
  for (std::size_t begin = 0, block = 0; begin < points; begin += chunk, ++block) {
    const std::size_t count = std::min<std::uint64_t>(chunk, points - begin);
    for (std::size_t k = 0; k < 3; ++k)
      table(k, r, scratch_[k])
          .draw(truth_.key(simulate_stream::points + static_cast<std::uint32_t>(k)), round, stream_index(r, block),
                count, ids[k].data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (ids[0][i] == ids[2][i]) continue;
      for (Ids& of_mode : ids) of_mode[kept] = of_mode[i];
      ++kept;
    }
    const std::size_t first = cells.grow(kept);
    for (std::size_t k = 0; k < 3; ++k) cells.set(first, kept, k, ids[k].data());
  }
}

}  // namespace ztp
