// A kernel whose arrays may have a part of the rows of a matrix, from one multiple of rows_of_share to another, so that
// several processes make together what one would make alone (kernel/ranks). What goes over all rows comes in two steps:
// each process does the first with its rows, and all do the second with what all of them have, in order.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "kernel/host_arrays.hpp"

namespace ztp {

class PartKernel : public Kernel {
 public:
  // sum_columns: sums of groups of these rows, groups x columns; and of those of all rows the sums of columns. `of`
  // says which array or rows they are of.
  virtual std::vector<double> sum_groups(const Columns& columns, const Factors& u) = 0;
  virtual std::vector<double> add_groups(const std::vector<double>& groups, const Columns& of) = 0;

  // draw_in_logs, a column at a time: logarithms of the draws at these rows, what all of them become together n times
  // one (normalise_logs of gamma_draw.hpp), and where those of these rows go.
  virtual std::vector<double> log_gammas(const Columns& columns, std::size_t q, StreamKey key, std::uint32_t t,
                                         const Factors& u) = 0;
  virtual double normalise(std::vector<double>& logs, double n) = 0;
  virtual void write_column(const Columns& columns, std::size_t q, const double* values, Factors& u) = 0;

  // impute_diagonal: sums of squares of blocks of rows, whose sum in order is that of a column.
  virtual std::vector<double> sums_of_squares(const Factors& u) = 0;
  // column_mass, and where counts are placed: sums of the wanted rows of blocks of rows_per_place rows.
  virtual std::vector<double> sums_of_places(const Factors& u, RowMask rows) = 0;

  // All rows of an array of this kernel, from and to one of the host: where other processes' rows come from and go to.
  // Counts that are brought must fit into `to`. By default rows are copied with read and write.
  virtual void send_factors(Pool& pool, const HostFactors& from, Factors& to);
  virtual void bring_factors(Pool& pool, const Factors& from, HostFactors& to);
  virtual void send_counts(Pool& pool, const HostCounts& from, Counts& to);
  virtual void bring_counts(Pool& pool, const Counts& from, HostCounts& to);

  // Whether begin_columns leaves columns as they were drawn, to be multiplied by a factor where they are needed as they
  // should be: allocate does without. scale_later says so of columns that were drawn elsewhere.
  virtual bool scales_later() const { return false; }
  virtual void scale_later(const std::vector<float>& /*factor*/, Factors& /*u*/) {}
  // Not where the factor of a column of n rows, with these sums, is far from one: products of several might not be
  // floats.
  static bool far_from_one(const std::vector<double>& sums, std::size_t n) {
    const double rows = static_cast<double>(n);
    return std::any_of(sums.begin(), sums.end(), [=](double sum) { return !(sum < 1e6 * rows && sum > 1e-6 * rows); });
  }
};

}  // namespace ztp
