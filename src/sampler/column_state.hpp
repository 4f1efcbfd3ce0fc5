// What the moves between columns work on: counts by row and column, and which component uses which column, on the host
// (docs/model.md, section 15).
#pragma once
#include <cstdint>
#include <vector>

#include "model/state.hpp"
#include "sampler/latent_parts.hpp"
#include "sampler/problem.hpp"

namespace ztp {

// What the prior says of the columns of components: c(r, k) ~ pi_k ~ Dirichlet(1, ..., 1).                       (M50)
inline constexpr double column_concentration = 1;

// The counts S[j, q] of a row that are not zero, in no order.
struct ColumnCount {
  std::uint32_t column;
  double count;
};
using SparseRow = std::vector<ColumnCount>;
void add_to_row(SparseRow& row, std::uint32_t column, double by);

struct ColumnState {
  explicit ColumnState(const Problem& problem);

  // parts: all latent counts of the tensor; those that are not in the statistics yet are added. network_ends: [f][q],
  // counts of column q of matrix f from networks.
  void load(const PriorShapes& shapes, const std::vector<std::vector<std::int64_t>>& network_ends,
            const LatentParts& parts, const FactorLayout& layout, const Statistics& statistics);
  void store(FactorLayout& layout, Statistics& statistics) const;

  bool is_one_hot(std::size_t k) const { return rows[matrix[k]].empty(); }
  double prior_mass(std::size_t f) const { return a[f] * static_cast<double>(rows[f].size()); }  // n a
  // The share of column q among the components of mode k, but for what all columns have in common: h_k(q).
  double column_share(std::size_t k, std::size_t q) const { return column_concentration + used[k][q]; }
  // A component gets its first count, or loses its last one.
  void occupy(std::size_t r) { count_component(r, 1); }
  void vacate(std::size_t r) { count_component(r, -1); }

  std::size_t K, R;
  std::size_t one_hot;                        // the first mode that is one-hot; K: none
  std::size_t first_tied, second_tied;        // modes that share a matrix; K: none
  std::vector<std::size_t> matrix;            // of each mode
  double g = 0;                               // the shape of the weights
  std::vector<double> a;                      // of each matrix
  std::vector<std::vector<SparseRow>> rows;   // of each matrix; none of a one-hot one
  std::vector<std::vector<double>> sum;       // of its columns
  std::vector<std::vector<std::uint32_t>> c;  // [k][r]
  std::vector<double> s;                      // counts of each component
  std::vector<std::int64_t> from_ones;        // likewise
  std::vector<std::vector<double>> used;      // [k][q]: components with counts that use column q
  double occupied = 0;                        // components with counts

 private:
  void count_component(std::size_t r, double by);
};

}  // namespace ztp
