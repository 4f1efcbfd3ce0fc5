// The candidates of a search for the most probable cells: of each open mode the entities that may be part of one. Rows
// are read by blocks of candidates, and dropped by upper bounds until those that are left fit into memory, in all
// draws.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/pool.hpp"
#include "evaluate/chain_average.hpp"
#include "posterior/top_search.hpp"
#include "store/draws_file.hpp"

namespace ztp {

class OpenCandidates {
 public:
  // All cells that agree with what is given and have no excluded entity (sorted, of each mode; empty: none is). room:
  // bytes. Refers to draws, chains and pool.
  OpenCandidates(const DrawsFile& draws, const ChainDraws& chains,
                 const std::vector<std::optional<std::uint32_t>>& given,
                 const std::vector<std::vector<std::uint32_t>>& excluded, double room, Pool& pool);

  bool none_open() const { return cells_.open.empty(); }
  bool no_cells() const;  // because all entities of an open mode are excluded
  // Finds for every candidate the upper bound over all cells that it can be part of, which takes a pass over its rows,
  // or two where several modes are open. Returns some promising cells: all combinations of each open mode's
  // best-bounded candidates.
  Buffer<std::uint32_t> promising_cells();
  // Drops candidates whose bound is below the threshold; true if that was worth another round.
  bool prune(double threshold);
  // To search in. reached: a score that as many cells as are asked for are known to have. Error (config), if there is
  // no room for the candidates.
  OpenCells take(double reached);

 private:
  using UseRows = std::function<void(Range candidates, const float* rows)>;
  void give(std::size_t k, std::uint32_t id);
  double bytes() const;  // of the rows of all candidates in all draws
  std::vector<float> read_rows(const OpenMode& mode, Range candidates) const;
  void load_rows();
  // Calls use for one block of candidates after another; rows: of each candidate in all draws. None of a one-hot mode.
  void for_rows(const OpenMode& mode, const UseRows& use) const;
  void find_largest(OpenMode& mode) const;
  void find_bounds(std::size_t o);

  const DrawsFile& draws_;
  const FactorLayout& layout_;
  const std::size_t D_;
  const double room_;
  Pool& pool_;
  OpenCells cells_;
  std::vector<std::vector<double>> bound_;  // of the candidates of each open mode
  double dropped_ = -1;                     // the largest bound of the candidates that there was no room for
  bool loaded_ = false;                     // whether all rows are in memory
};

}  // namespace ztp
