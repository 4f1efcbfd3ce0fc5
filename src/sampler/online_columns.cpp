#include "sampler/online_columns.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"
#include "sampler/draw_place.hpp"

namespace ztp {
namespace {

constexpr double least_count = 1e-3;  // of a column in a row: less, long decayed, is as none

}  // namespace

OnlineColumns::OnlineColumns(const PriorShapes& shapes, const Targets& targets)
    : shapes_(shapes), to_(targets), scale_(targets.statistics.scale) {}

void OnlineColumns::run(const std::vector<RunningDocuments>& documents, const std::vector<Streams>& streams) {
  const FactorLayout& layout = to_.layout;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    if (layout.is_one_hot(f)) {
      deal_out_empty(layout.first_mode(f), streams[layout.first_mode(f)]);
      continue;
    }
    load(f);
    for (std::size_t k = 0; k < layout.modes(); ++k) {
      if (layout.matrix(k) != f) continue;
      move_components(k, documents[k], streams[k]);
      change_rows(changes_, *to_.statistics.rows[f]);
    }
  }
}

void OnlineColumns::load(std::size_t f) {
  const Counts& counts = *to_.statistics.rows[f];
  rows_.assign(counts.rows(), {});
  for_blocks_of_rows(counts, [&](Range of, const std::int64_t* values) {
    for (std::size_t j = of.begin; j < of.end; ++j, values += counts.columns())
      for (std::uint32_t q = 0; q < counts.columns(); ++q) {
        const double count = scale_ * static_cast<double>(values[q]);
        if (count >= least_count) rows_[j].push_back({q, count});
      }
  });
  sum_.clear();
  for (const std::int64_t sum : to_.column_sums[f]) sum_.push_back(scale_ * static_cast<double>(sum));
}

bool OnlineColumns::has_counts(std::size_t r) const {
  return scale_ * static_cast<double>(to_.statistics.tensor[r]) >= 0.5;
}

std::vector<double> OnlineColumns::used_columns(std::size_t k) const {
  std::vector<double> used(to_.layout.size_of_mode(k).columns, 0.0);
  for (std::size_t r = 0; r < to_.layout.components(); ++r) used[to_.layout.column(k, r)] += has_counts(r) ? 1 : 0;
  return used;
}

// Each component, one after the other, to a column of mode k.                                                    (M56)
void OnlineColumns::move_components(std::size_t k, const RunningDocuments& documents, const Streams& streams) {
  const std::size_t f = to_.layout.matrix(k);
  const std::span<std::uint32_t> columns = to_.layout.columns_of_mode(k);
  std::vector<double> used = used_columns(k);
  Document document;  // in whole counts
  const RunningDocuments::Entry* begin = documents.entries().data();
  const RunningDocuments::Entry* const last = begin + documents.entries().size();
  for (std::size_t r = 0; r < columns.size(); ++r) {
    const RunningDocuments::Entry* end = begin;
    Stream stream = streams.at(r);
    const std::uint32_t from = columns[r];
    std::int64_t units = 0;
    document.clear();
    for (; end < last && end->component() == r; ++end) {
      const double count = scale_ * static_cast<double>(end->units);
      add_to_row(rows_[end->row()], from, -count);
      units += end->units;
      const double whole = std::floor(count + stream.uniform());
      if (whole > 0) document.push_back({end->row(), whole});
    }
    const double all = scale_ * static_cast<double>(units), counted = has_counts(r) ? 1 : 0;
    sum_[from] -= all;
    used[from] -= counted;
    weigh(document, used, shapes_.dirichlet[f]);
    const std::uint32_t q = columns[r] = static_cast<std::uint32_t>(draw_place(weight_, stream.uniform()));
    for (const RunningDocuments::Entry* entry = begin; entry < end; ++entry) {
      add_to_row(rows_[entry->row()], q, scale_ * static_cast<double>(entry->units));
      if (q == from) continue;
      changes_.push_back({entry->row(), from, -entry->units});
      changes_.push_back({entry->row(), q, entry->units});
    }
    sum_[q] += all;
    used[q] += counted;
    std::vector<std::int64_t>& sums = to_.column_sums[f];
    sums[from] = std::max<std::int64_t>(sums[from] - units, 0);  // both have been rounded
    sums[q] += units;
    begin = end;
  }
}

// A row without counts in column q has the factor G(a + m) / G(a) there. As it is the same for all such columns, it is
// left out, and only the columns of the row are looked at.
void OnlineColumns::weigh(const Document& document, const std::vector<double>& used, double a) {
  const double prior_mass = a * static_cast<double>(rows_.size());
  std::int64_t units = 0;
  for (const RowCount& of_row : document) units += static_cast<std::int64_t>(of_row.count);
  weight_.resize(used.size());
  for (std::size_t q = 0; q < used.size(); ++q)
    weight_[q] = std::log(column_concentration + used[q]) - log_rising(prior_mass + std::max(sum_[q], 0.0), units);
  for (const RowCount& of_row : document) {
    const std::int64_t count = static_cast<std::int64_t>(of_row.count);
    const double without = log_rising(a, count);
    for (const ColumnCount& of_column : rows_[of_row.row])
      weight_[of_column.column] += log_rising(a + std::max(of_column.count, 0.0), count) - without;
  }
  const double largest = *std::max_element(weight_.begin(), weight_.end());
  for (double& weight : weight_) weight = std::exp(weight - largest);
}

void OnlineColumns::deal_out_empty(std::size_t k, const Streams& streams) {
  const std::span<std::uint32_t> columns = to_.layout.columns_of_mode(k);
  std::vector<double> weights = used_columns(k);
  for (double& weight : weights) weight += column_concentration;
  std::vector<std::size_t> components(weights.size(), 0);
  for (const std::uint32_t q : columns) ++components[q];
  for (std::size_t r = 0; r < columns.size(); ++r) {
    if (has_counts(r) || components[columns[r]] == 1) continue;
    --components[columns[r]];
    columns[r] = static_cast<std::uint32_t>(draw_place(weights, streams.at(r).uniform()));
    ++components[columns[r]];
  }
}

}  // namespace ztp
