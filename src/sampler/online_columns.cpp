#include "sampler/online_columns.hpp"

#include <algorithm>
#include <cmath>

#include "sampler/column_moves.hpp"
#include "sampler/document_weights.hpp"
#include "sampler/draw_place.hpp"

namespace ztp {

OnlineColumns::OnlineColumns(const PriorShapes& shapes, const Targets& targets)
    : shapes_(shapes), to_(targets), scale_(targets.statistics.scale), S_(0, 0) {}

void OnlineColumns::run(const std::vector<RunningDocuments>& documents, const std::vector<Streams>& streams) {
  const FactorLayout& layout = to_.layout;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    if (layout.is_one_hot(f)) {
      deal_out_empty(layout.first_mode(f), streams[layout.first_mode(f)]);
      continue;
    }
    Counts& rows = *to_.statistics.rows[f];
    S_ = Matrix<double>(rows.rows(), rows.columns());
    for_blocks_of_rows(rows, [&](Range of, const std::int64_t* values) {
      for (std::size_t j = of.begin; j < of.end; ++j, values += rows.columns())
        for (std::size_t q = 0; q < rows.columns(); ++q) S_.row(j)[q] = scale_ * static_cast<double>(values[q]);
    });
    sum_.clear();
    for (const std::int64_t sum : to_.column_sums[f]) sum_.push_back(scale_ * static_cast<double>(sum));
    for (std::size_t k = 0; k < layout.modes(); ++k)
      if (layout.matrix(k) == f) move_components(k, documents[k], streams[k]);
    change_rows(changes_, rows);
  }
}

bool OnlineColumns::has_counts(std::size_t r) const {
  return scale_ * static_cast<double>(to_.statistics.tensor[r]) >= 0.5;
}

std::vector<double> OnlineColumns::used_columns(std::size_t k) const {
  std::vector<double> used(to_.layout.size_of_mode(k).columns, 0.0);
  for (std::size_t r = 0; r < to_.layout.components(); ++r) used[to_.layout.column(k, r)] += has_counts(r) ? 1 : 0;
  return used;
}

// Each component, one after the other, to a column of mode k.                                                    (M55)
void OnlineColumns::move_components(std::size_t k, const RunningDocuments& documents, const Streams& streams) {
  const std::size_t f = to_.layout.matrix(k);
  const std::span<std::uint32_t> columns = to_.layout.columns_of_mode(k);
  std::vector<double> used = used_columns(k), weights;
  std::vector<RowCount> tokens;
  const RunningDocuments::Entry* begin = documents.entries().data();
  const RunningDocuments::Entry* const last = begin + documents.entries().size();
  for (std::size_t r = 0; r < columns.size(); ++r) {
    const RunningDocuments::Entry* end = begin;
    Stream stream = streams.at(r);
    const std::uint32_t from = columns[r];
    std::int64_t units = 0;
    tokens.clear();
    for (; end < last && end->component() == r; ++end) {
      const double count = scale_ * static_cast<double>(end->units);
      S_.row(end->row())[from] -= count;
      units += end->units;
      const std::int64_t whole = static_cast<std::int64_t>(std::floor(count + stream.uniform()));
      if (whole > 0) tokens.push_back({end->row(), whole});
    }
    const double all = scale_ * static_cast<double>(units), counted = has_counts(r) ? 1 : 0;
    sum_[from] -= all;
    used[from] -= counted;
    weights = used;
    for (double& weight : weights) weight += column_concentration;
    multiply_by_document(S_, sum_, shapes_.dirichlet[f], tokens, weights);
    const std::uint32_t q = columns[r] = static_cast<std::uint32_t>(draw_place(weights, stream.uniform()));
    for (const RunningDocuments::Entry* entry = begin; entry < end; ++entry) {
      S_.row(entry->row())[q] += scale_ * static_cast<double>(entry->units);
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
