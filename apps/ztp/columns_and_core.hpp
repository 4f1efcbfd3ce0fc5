// Runs in which components share columns, as the commands show them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "ztp/posterior.hpp"

namespace ztp::app {

// What is said of stability after other numbers; empty if the run has one chain.
std::string stability_text(double stability, const RunInfo& info);

// Whether each entity of a mode has a column of its own.
bool has_own_columns(const RunInfo& info, std::size_t mode);
// The mode that has the same columns; the mode itself, if there is none.
std::size_t tied_mode(const RunInfo& info, std::size_t mode);

// An entry of the core: of each mode its column, or the label of the entity that has its own.
nlohmann::ordered_json entry_json(const std::vector<std::size_t>& columns, const Posterior& posterior);
std::string entry_text(const std::vector<std::size_t>& columns, const Posterior& posterior);  // (3, brother, 1)

// The columns of all modes, tied ones once, and the core.
class ColumnsAndCore {
 public:
  // `top` entities of each column; `all`: empty columns, too.
  ColumnsAndCore(Posterior& posterior, std::size_t top, std::size_t chain, bool all);

  void print() const;
  nlohmann::ordered_json json() const;

 private:
  struct Matrix {
    std::vector<std::size_t> modes;  // the mode, and one that is tied to it
    std::vector<Column> columns;
  };
  const Posterior& posterior_;
  std::vector<Matrix> matrices_;
  std::vector<CoreEntry> core_;
};

// Columns that were mentioned, and who is in them.
class MentionedColumns {
 public:
  explicit MentionedColumns(Posterior& posterior) : posterior_(posterior) {}
  void add(const std::vector<std::size_t>& columns);  // of an entry of the core
  void print() const;                                 // a line for each, as a comment

 private:
  Posterior& posterior_;
  std::vector<std::set<std::size_t>> columns_;  // of each mode
};

}  // namespace ztp::app
