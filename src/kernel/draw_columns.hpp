// Columns of factors from the operations that every kernel has: draw, sum, scale.
#pragma once
#include <vector>

#include "kernel/kernel.hpp"

namespace ztp {

// u[., q] ~ Dirichlet(a + scale S[., q]), stored times n.                                                 (M5), (M27)
// totals: the sums of the columns of scale S, all rows together. If only some rows are listed, those that are not are
// one more gamma draw, so that what is written still adds up to one with what is not. Reads S, writes u, O(rows P).
// Returns what each column added up to before it was normalised: positive and finite, or else a value in it has gone
// bad, and the column is left as it was drawn, so that the bad value can be told from the others.
std::vector<double> draw_columns(Kernel& kernel, const Columns& columns, const std::vector<double>& totals,
                                 StreamKey key, std::uint32_t t, Factors& u);

// The same in two steps: a kernel may draw while the host goes on, until the sums are asked for.
class ColumnDraw {
 public:
  // Refers to everything but the totals.
  ColumnDraw(Kernel& kernel, const Columns& columns, const std::vector<double>& totals, StreamKey key, std::uint32_t t,
             Factors& u);
  // What draw_columns returns.
  std::vector<double> sums();

 private:
  std::vector<double> redraw_lost(std::vector<double> sums);

  Kernel& kernel_;
  const Columns columns_;
  StreamKey key_;
  std::uint32_t t_;
  Factors& u_;
  bool waits_ = false;
  std::vector<double> log_rest_, sums_;
};

// The means of the same, (a + scale S[j, q]) / (n a + totals[q]), stored times n.                                (M28)
void mean_columns(Kernel& kernel, const Columns& columns, const std::vector<double>& totals, Factors& u);

}  // namespace ztp
