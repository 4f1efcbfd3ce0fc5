#include "sampler/column_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/distributions.hpp"
#include "sampler/draw_place.hpp"

namespace ztp {

void LogRising::prepare(double shift, double most) {
  constexpr double largest_table = 1 << 20;
  if (shift != shift_) table_.clear();
  shift_ = shift;
  log_gamma_of_shift_ = log_gamma(shift);
  const auto size = static_cast<std::size_t>(std::min(most, largest_table)) + 1;
  for (std::size_t n = table_.size(); n < size; ++n)
    table_.push_back(log_gamma(shift + static_cast<double>(n)) - log_gamma_of_shift_);
}

double LogRising::operator()(double n) const {
  const auto place = static_cast<std::size_t>(n);
  return place < table_.size() ? table_[place] : log_gamma(shift_ + n) - log_gamma_of_shift_;
}

std::vector<std::uint32_t> sorted_by_component(const LatentParts& parts, std::size_t k, const ColumnState& state) {
  std::vector<std::uint32_t> by_row(parts.size()), by_component(parts.size());
  // Keeps the order of `before` among equal keys.
  const auto counting_sort = [&](std::size_t keys, const auto& key, const auto& before,
                                 std::vector<std::uint32_t>& after) {
    std::vector<std::size_t> begin(keys + 1, 0);
    for (std::size_t i = 0; i < parts.size(); ++i) ++begin[key(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::uint32_t part = before(i);
      after[begin[key(part)]++] = part;
    }
  };
  counting_sort(
      state.rows[state.matrix[k]].size(), [&](std::size_t i) { return parts.cell(i)[k]; },
      [](std::size_t i) { return static_cast<std::uint32_t>(i); }, by_row);
  counting_sort(
      state.R, [&](std::size_t i) { return parts.component[i]; }, [&](std::size_t i) { return by_row[i]; },
      by_component);
  return by_component;
}

void ColumnStep::prepare(const ColumnState& state) {
  const std::vector<double>& sum = state.sum[f_];
  double most_of_row = 0;
  for (const SparseRow& row : state.rows[f_])
    most_of_row += std::accumulate(row.begin(), row.end(), 0.0, [](double of_row, const ColumnCount& of_column) {
      return of_row + of_column.count;
    });
  of_row_.prepare(state.a[f_], std::min(most_of_row, 65536.0));
  of_column_.prepare(state.prior_mass(f_), std::accumulate(sum.begin(), sum.end(), 0.0));
  of_share_.prepare(column_concentration, static_cast<double>(state.R));
}

void ColumnStep::run(const LatentParts& parts, std::size_t k, Stream stream, ColumnState& state) {
  prepare(state);
  std::vector<double>& sum = state.sum[f_];
  const auto put = [&](const Document& document, std::uint32_t q, double sign, double count) {
    for (const RowCount& of_row : document) add_to_row(state.rows[f_][of_row.row], q, sign * of_row.count);
    sum[q] += sign * count;
    state.used[k][q] += sign;
  };
  for_documents(parts, k, sorted_by_component(parts, k, state), [&](std::size_t r, const Document& document) {
    put(document, state.c[k][r], -1, state.s[r]);
    weigh(document, k, state);
    const double largest = *std::max_element(log_weight_.begin(), log_weight_.end());
    weight_.resize(log_weight_.size());
    for (std::size_t q = 0; q < weight_.size(); ++q) {
      const double below = log_weight_[q] - largest;
      weight_[q] = below < -50 ? 0 : std::exp(below);
    }
    state.c[k][r] = static_cast<std::uint32_t>(draw_place(weight_, stream.uniform()));
    put(document, state.c[k][r], 1, state.s[r]);
  });
}

// A row without counts in column q has the factor G(a + m) / G(a) there. As it is the same for all such columns, it is
// left out, and only the columns of the row are looked at.
void ColumnStep::weigh(const Document& document, std::size_t k, const ColumnState& state) {
  const std::vector<double>& sum = state.sum[f_];
  const std::size_t P = sum.size();
  double units = 0;
  for (const RowCount& of_row : document) units += of_row.count;
  log_weight_.resize(P);
  for (std::size_t q = 0; q < P; ++q) {
    const double used = state.used[k][q];  // log(1 + used) = log G(2 + used) - log G(1 + used)
    log_weight_[q] = of_share_(used + 1) - of_share_(used) + of_column_(sum[q]) - of_column_(sum[q] + units);
  }
  for (const RowCount& of_row : document) {
    const double without = of_row_(of_row.count);
    for (const ColumnCount& of_column : state.rows[f_][of_row.row])
      log_weight_[of_column.column] += of_row_(of_column.count + of_row.count) - of_row_(of_column.count) - without;
  }
}

}  // namespace ztp
