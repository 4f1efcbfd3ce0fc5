// Moves components between columns, with u and the shares of the columns integrated out.                         (M53)
#pragma once
#include <vector>

#include "sampler/column_state.hpp"

namespace ztp {

// log G(shift + n) - log G(shift) for integers n, the first of them from a table.
class LogRising {
 public:
  // Makes the table for n up to `most`, or as many as are worth it.
  void prepare(double shift, double most);
  double operator()(double n) const;

 private:
  double shift_ = 0, log_gamma_of_shift_ = 0;
  std::vector<double> table_;
};

// The counts of a component in the rows of a mode: no row twice.
struct RowCount {
  std::uint32_t row;
  double count;
};
using Document = std::vector<RowCount>;

// Of one factor matrix.
class ColumnStep {
 public:
  explicit ColumnStep(std::size_t matrix) : f_(matrix) {}

  // Every component with counts, one after the other, to a column of mode k, which must be of this matrix. Reads the
  // parts, changes what the state has of this matrix and mode. O(parts + components P + columns in use in the rows of
  // all components).
  void run(const LatentParts& parts, std::size_t k, Stream stream, ColumnState& state);

  // log_weight[q]: of the document in column q, but for a constant, with the state as it is without it.
  void weigh(const Document& document, std::size_t k, const ColumnState& state);
  std::vector<double>& log_weights() { return log_weight_; }
  void prepare(const ColumnState& state);  // before `weigh`, when a has changed or counts have

 private:
  std::size_t f_;
  LogRising of_row_, of_column_, of_share_;
  std::vector<double> log_weight_, weight_;
};

// Calls use(r, document) for each component with counts in mode k, in ascending order of components and rows.
template <class Use>
void for_documents(const LatentParts& parts, std::size_t k, const std::vector<std::uint32_t>& by_component,
                   const Use& use) {
  Document document;
  for (std::size_t begin = 0, end; begin < parts.size(); begin = end) {
    const std::size_t r = parts.component[by_component[begin]];
    document.clear();
    for (end = begin; end < parts.size() && parts.component[by_component[end]] == r; ++end) {
      const std::uint32_t part = by_component[end], row = parts.cell(part)[k];
      if (document.empty() || document.back().row != row) document.push_back({row, 0});
      document.back().count += static_cast<double>(parts.count[part]);
    }
    use(r, document);
  }
}

// The parts by component, and those of a component by their row of mode k.
std::vector<std::uint32_t> sorted_by_component(const LatentParts& parts, std::size_t k, const ColumnState& state);

}  // namespace ztp
