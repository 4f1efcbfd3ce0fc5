// The text files that a fit writes while it runs, a row each sweep: trace.tsv and cells.tsv. Columns go by their names.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evaluate/convergence.hpp"

namespace ztp {

struct ChainTable {
  std::string path;
  std::vector<std::string> names;                       // of the columns beside chain and sweep
  std::unordered_map<std::string, std::size_t> places;  // of the names
  struct Rows {
    std::vector<std::int64_t> sweep;           // ascending
    std::vector<std::vector<double>> columns;  // as names; NaN where the field is empty
  };
  std::vector<Rows> chains;

  std::optional<std::size_t> find(const std::string& name) const;
  std::size_t column(const std::string& name) const;  // Error (input) if there is none
  // The first row of a chain with a sweep after `burn_in`.
  std::size_t first_after(std::size_t chain, std::int64_t burn_in) const;
  // A column of these chains, from there on.
  DrawsOfChains draws(std::size_t column, const std::vector<std::size_t>& which, std::int64_t burn_in) const;
};

// An incomplete last line is skipped: a running fit may be writing it, or was killed. Other damage is an Error (input)
// that names file:line.
ChainTable read_chain_table(const std::string& path, std::size_t chains);

// The watched cells of a run: labels, and the outcome of held-out cells.
struct WatchedCellLabels {
  std::vector<std::string> labels;  // one for each mode
  std::optional<bool> outcome;
};
std::vector<WatchedCellLabels> read_watched(const std::string& path, std::size_t order);

}  // namespace ztp
