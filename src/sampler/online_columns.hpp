// Components between columns, from running statistics (docs/model.md, section 15).                               (M56)
#pragma once
#include <vector>

#include "model/state.hpp"
#include "sampler/column_state.hpp"
#include "sampler/column_step.hpp"
#include "sampler/row_changes.hpp"
#include "sampler/running_documents.hpp"

namespace ztp {

class OnlineColumns {
 public:
  // What it changes; column_sums: of each matrix, stored as the statistics are.
  struct Targets {
    FactorLayout& layout;
    Statistics& statistics;
    std::vector<std::vector<std::int64_t>>& column_sums;
  };
  OnlineColumns(const PriorShapes& shapes, const Targets& targets);

  // All components, mode by mode. documents: of each mode, settled; those of a one-hot mode are not looked at.
  // streams: of each mode. Serial; O(components P + columns in use in the rows of all components), and the rows of a
  // matrix at a time in memory once more, sparse.
  void run(const std::vector<RunningDocuments>& documents, const std::vector<Streams>& streams);

 private:
  void load(std::size_t f);
  void move_components(std::size_t k, const RunningDocuments& documents, const Streams& streams);
  // The log-weights of the columns for a component with these counts, which have been taken out of its column.
  void weigh(const Document& document, const std::vector<double>& used, double a);
  // Components without counts to other entities of a one-hot mode. An entity keeps its last one.
  void deal_out_empty(std::size_t k, const Streams& streams);
  std::vector<double> used_columns(std::size_t k) const;
  bool has_counts(std::size_t r) const;

  const PriorShapes& shapes_;
  Targets to_;
  double scale_;
  std::vector<SparseRow> rows_;  // of the matrix at hand, in counts
  std::vector<double> sum_;      // of its columns
  std::vector<double> weight_;
  std::vector<RowChange> changes_;
};

}  // namespace ztp
