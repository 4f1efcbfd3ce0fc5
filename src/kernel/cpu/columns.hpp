// Columns of factors over blocks of rows: gamma draws in lanes (gamma.hpp) where floats hold and in logs where not,
// their sums and means, and the diagonal of a network. All as in Kernel.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "kernel/host_arrays.hpp"

namespace ztp::cpu {

void draw_gammas(Pool& pool, const Columns& columns, const Streams& streams, HostFactors& u);  // (M5)
// A whole matrix whose columns are drawn, summed and scaled, and what is made of them meanwhile.
struct ColumnTask {
  Columns columns;
  Streams streams;
  HostFactors& u;
  Matrix<double> of_blocks = {};  // sums over blocks of rows
  std::vector<double> sums = {};  // before the columns were scaled
  Matrix<float> factor = {};
};
// Several matrices: threads wait for each other once, and a matrix is scaled while others are drawn.
void draw_together(Pool& pool, std::span<ColumnTask> tasks);
// In groups of rows_of_sum rows, and all of these in order.                                                     (M5)
void sum_row_groups(Pool& pool, const Columns& columns, const HostFactors& u,
                    const std::function<void(const RowGroupSums&)>& use);
std::vector<double> total_of(const Matrix<double>& of_groups);
std::vector<double> sum_columns(Pool& pool, const Columns& columns, const HostFactors& u);
void scale_columns(Pool& pool, const Columns& columns, const std::vector<float>& factor, HostFactors& u);  // (M5)
std::vector<double> draw_in_logs(Pool& pool, const Columns& columns, const std::vector<std::size_t>& which,
                                 const std::vector<double>& log_rest, const Streams& streams,
                                 HostFactors& u);  // (M5), (M27)
// One column of them: the logarithms of its draws, and values for its rows.
std::vector<double> log_gammas(const Columns& columns, std::size_t q, const Streams& streams, const Factors& u);
void write_column(const Columns& columns, std::size_t q, const double* values, HostFactors& u);
std::vector<std::int64_t> sum_counts(const Columns& columns);
void mean_columns(Pool& pool, const Columns& columns, const std::vector<float>& factor, HostFactors& u);  // (M28)
// Of u[., q] over each block of rows, blocks x columns.
std::vector<double> sums_of_squares(Pool& pool, const HostFactors& factors);
double impute_diagonal(Pool& pool, const HostFactors& factors, const std::vector<double>& log_beta,
                       const Streams& streams, const DrawSettings& settings, HostCounts& S,
                       std::int64_t* totals);  // (M12)

}  // namespace ztp::cpu
