#include "sampler/column_state.hpp"

#include <algorithm>

namespace ztp {
void add_to_row(SparseRow& row, std::uint32_t column, double by) {
  for (ColumnCount& of_column : row) {
    if (of_column.column != column) continue;
    of_column.count += by;
    if (of_column.count == 0) {
      of_column = row.back();
      row.pop_back();
    }
    return;
  }
  row.push_back({column, by});
}

ColumnState::ColumnState(const Problem& problem)
    : K(problem.layout.modes()),
      R(problem.layout.components()),
      one_hot(problem.layout.one_hot_mode()),
      first_tied(K),
      second_tied(K) {
  const FactorLayout& layout = problem.layout;
  for (std::size_t k = 0; k < K; ++k) {
    matrix.push_back(layout.matrix(k));
    if (first_tied == K && layout.tied_mode(k) != k) {
      first_tied = k;
      second_tied = layout.tied_mode(k);
    }
  }
  for (std::size_t f = 0; f < layout.matrices(); ++f) rows.emplace_back(layout.is_one_hot(f) ? 0 : layout.size(f).rows);
}

void ColumnState::load(const PriorShapes& shapes, const std::vector<std::vector<std::int64_t>>& network_ends,
                       const LatentParts& parts, const FactorLayout& layout, const Statistics& statistics) {
  g = shapes.tensor;
  a = shapes.dirichlet;
  c.clear();
  used.clear();
  for (std::size_t k = 0; k < K; ++k) {
    c.emplace_back(layout.columns_of_mode(k).begin(), layout.columns_of_mode(k).end());
    used.emplace_back(layout.size_of_mode(k).columns, 0.0);
  }
  s.assign(statistics.tensor.begin(), statistics.tensor.end());
  from_ones = statistics.from_ones;
  sum.clear();
  for (std::size_t f = 0; f < rows.size(); ++f) {
    sum.emplace_back(network_ends[f].begin(), network_ends[f].end());
    if (layout.is_one_hot(f)) continue;
    const std::size_t P = layout.size(f).columns;
    for_blocks_of_rows(*statistics.rows[f], [&](Range block, const std::int64_t* values) {
      for (std::size_t j = block.begin; j < block.end; ++j, values += P) {
        rows[f][j].clear();
        for (std::uint32_t q = 0; q < P; ++q)
          if (values[q] != 0) rows[f][j].push_back({q, static_cast<double>(values[q])});
      }
    });
  }
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t r = 0; r < R; ++r) sum[matrix[k]][c[k][r]] += s[r];
  for (std::size_t i = parts.in_statistics; i < parts.size(); ++i) {
    const std::size_t r = parts.component[i];
    const double count = static_cast<double>(parts.count[i]);
    for (std::size_t k = 0; k < K; ++k) {
      sum[matrix[k]][c[k][r]] += count;
      if (!is_one_hot(k)) add_to_row(rows[matrix[k]][parts.cell(i)[k]], c[k][r], count);
    }
    s[r] += count;
  }
  occupied = 0;
  for (std::size_t r = 0; r < R; ++r)
    if (s[r] > 0) occupy(r);
}

void ColumnState::store(FactorLayout& layout, Statistics& statistics) const {
  for (std::size_t k = 0; k < K; ++k) std::copy(c[k].begin(), c[k].end(), layout.columns_of_mode(k).begin());
  std::transform(s.begin(), s.end(), statistics.tensor.begin(),
                 [](double count) { return static_cast<std::int64_t>(count); });
  statistics.from_ones = from_ones;
  for (std::size_t f = 0; f < rows.size(); ++f) {
    if (layout.is_one_hot(f)) continue;
    const std::size_t P = layout.size(f).columns;
    write_rows(*statistics.rows[f], [&](std::size_t j, std::int64_t* row) {
      std::fill(row, row + P, 0);
      for (const ColumnCount& of_column : rows[f][j])
        row[of_column.column] = static_cast<std::int64_t>(of_column.count);
    });
  }
}

void ColumnState::count_component(std::size_t r, double by) {
  occupied += by;
  for (std::size_t k = 0; k < K; ++k) used[k][c[k][r]] += by;
}

}  // namespace ztp
