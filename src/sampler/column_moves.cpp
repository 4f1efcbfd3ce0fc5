#include "sampler/column_moves.hpp"

#include <algorithm>
#include <numeric>

namespace ztp {
namespace {

// A place in proportion to the weights, none of which is negative and one of which is positive.
std::size_t draw_place(const std::vector<double>& weights, double uniform) {
  double target = uniform * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t found = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    found = i;
    if (target < weights[i]) break;
    target -= weights[i];
  }
  return found;
}

void remove_from(std::vector<std::uint32_t>& list, std::vector<std::uint32_t>& place, std::size_t r) {
  const std::uint32_t last = list.back();
  list[place[r]] = last;
  place[last] = place[r];
  list.pop_back();
}

void append_to(std::vector<std::uint32_t>& list, std::vector<std::uint32_t>& place, std::size_t r) {
  place[r] = static_cast<std::uint32_t>(list.size());
  list.push_back(static_cast<std::uint32_t>(r));
}

bool same_cell(const LatentParts& parts, std::size_t i, std::size_t j) {
  return std::equal(parts.cell(i), parts.cell(i) + parts.K, parts.cell(j));
}

}  // namespace

ColumnMoves::ColumnMoves(const Problem& problem)
    : K_(problem.layout.modes()),
      R_(problem.layout.components()),
      one_hot_(problem.layout.one_hot_mode()),
      first_tied_(K_),
      second_tied_(K_),
      place_(R_) {
  const FactorLayout& layout = problem.layout;
  for (std::size_t k = 0; k < K_; ++k) {
    matrix_.push_back(layout.matrix(k));
    predictive_.emplace_back(layout.size_of_mode(k).columns);
    if (first_tied_ == K_ && layout.tied_mode(k) != k) {
      first_tied_ = k;
      second_tied_ = layout.tied_mode(k);
    }
  }
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    S_.push_back(layout.is_one_hot(f) ? Matrix<double>(0, 0)
                                      : Matrix<double>(layout.size(f).rows, layout.size(f).columns));
}

void ColumnMoves::run(const Inputs& inputs, const Streams& streams, LatentParts& parts, FactorLayout& layout,
                      Statistics& statistics) {
  load(inputs, parts, layout, statistics);
  if (inputs.scan) scan(parts, streams.at(0));
  for (std::size_t k = 0; inputs.columns && k < K_; ++k) {
    Stream stream = streams.at(1 + k);
    if (!layout.is_one_hot(matrix_[k])) move_components(parts, k, stream);
  }
  store(layout, statistics);
}

void ColumnMoves::load(const Inputs& inputs, const LatentParts& parts, const FactorLayout& layout,
                       Statistics& statistics) {
  shape_ = inputs.shapes.tensor;
  a_ = inputs.shapes.dirichlet;
  c_.clear();
  used_.clear();
  for (std::size_t k = 0; k < K_; ++k) {
    c_.emplace_back(layout.columns_of_mode(k).begin(), layout.columns_of_mode(k).end());
    used_.emplace_back(layout.size_of_mode(k).columns, 0.0);
  }
  s_.assign(statistics.tensor.begin(), statistics.tensor.end());
  from_ones_ = statistics.from_ones;
  sum_.clear();
  for (std::size_t f = 0; f < S_.size(); ++f) {
    sum_.emplace_back(inputs.network_ends[f].begin(), inputs.network_ends[f].end());
    if (layout.is_one_hot(f)) continue;
    copy_to_host(*statistics.rows[f], S_[f]);
  }
  for (std::size_t k = 0; k < K_; ++k)
    for (std::size_t r = 0; r < R_; ++r) sum_[matrix_[k]][c_[k][r]] += s_[r];
  for (std::size_t i = parts.in_statistics; i < parts.size(); ++i)
    change(parts.cell(i), parts.component[i], static_cast<double>(parts.count[i]));
  occupied_ = 0;
  empty_.clear();
  list_.assign(one_hot_ == K_ ? 1 : layout.size_of_mode(one_hot_).rows, {});
  for (std::size_t r = 0; r < R_; ++r) {
    if (s_[r] > 0)
      occupy_entry(r);
    else
      append_to(empty_, place_, r);
  }
}

void ColumnMoves::store(FactorLayout& layout, Statistics& statistics) const {
  for (std::size_t k = 0; k < K_; ++k) std::copy(c_[k].begin(), c_[k].end(), layout.columns_of_mode(k).begin());
  std::transform(s_.begin(), s_.end(), statistics.tensor.begin(),
                 [](double count) { return static_cast<std::int64_t>(count); });
  statistics.from_ones = from_ones_;
  for (std::size_t f = 0; f < S_.size(); ++f)
    if (!layout.is_one_hot(f)) copy_from_host(S_[f], *statistics.rows[f]);
}

void ColumnMoves::change(const std::uint32_t* cell, std::size_t r, double by) {
  for (std::size_t k = 0; k < K_; ++k) {
    const std::size_t f = matrix_[k], q = c_[k][r];
    sum_[f][q] += by;
    if (S_[f].rows() > 0) S_[f].row(cell[k])[q] += by;
  }
  s_[r] += by;
}

void ColumnMoves::empty_entry(std::size_t r) {
  --occupied_;
  for (std::size_t k = 0; k < K_; ++k) --used_[k][c_[k][r]];
  remove_from(list_[one_hot_ == K_ ? 0 : c_[one_hot_][r]], place_, r);
  append_to(empty_, place_, r);
}

void ColumnMoves::occupy_entry(std::size_t r) {
  ++occupied_;
  for (std::size_t k = 0; k < K_; ++k) ++used_[k][c_[k][r]];
  append_to(list_[one_hot_ == K_ ? 0 : c_[one_hot_][r]], place_, r);
}

// ---- the scan over counts -------------------------------------------------------------------------------------------

// One Gibbs scan over the counts of the ones, unit by unit.                                                      (M52)
void ColumnMoves::scan(LatentParts& parts, Stream stream) {
  const std::int64_t units = std::accumulate(
      parts.count.begin(), parts.count.begin() + static_cast<std::ptrdiff_t>(parts.of_ones), std::int64_t{0});
  // Latent counts have no upper limit where every cell is a one. A sweep with more is left as it is: no move changes
  // their number.
  if (units > std::max<std::int64_t>(1'000'000, 16 * static_cast<std::int64_t>(parts.of_ones))) return;
  LatentParts after;
  after.K = K_;
  // The units of a cell are shuffled: which comes first must not depend on where they are.
  std::size_t first = 0;  // unit of the cell at hand
  for (std::size_t i = 0; i < parts.of_ones; ++i) {
    if (i > 0 && !same_cell(parts, i, i - 1)) first = after.size();
    for (std::int64_t unit = 0; unit < parts.count[i]; ++unit) {
      after.add(parts.cell(i), parts.component[i], 1);
      const std::size_t now = after.size() - 1;
      std::swap(after.component[now], after.component[first + stream.below(now - first + 1)]);
    }
  }
  after.of_ones = after.size();
  divisor_.assign(S_.size(), {});
  for (std::size_t f = 0; f < S_.size(); ++f)
    for (const double sum : sum_[f]) divisor_[f].push_back(1 / (a_[f] * static_cast<double>(S_[f].rows()) + sum));
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::uint32_t* cell = after.cell(i);
    std::size_t r = after.component[i];
    move_unit(cell, r, -1);
    if (s_[r] == 0) empty_entry(r);
    set_predictives(cell);
    const std::vector<std::uint32_t>& list = list_[one_hot_ == K_ ? 0 : cell[one_hot_]];
    weights_.resize(list.size() + 1);
    for (std::size_t e = 0; e < list.size(); ++e) weights_[e] = weight(list[e]);
    weights_.back() = new_weight(cell);
    const std::size_t found = draw_place(weights_, stream.uniform());
    r = found < list.size() ? list[found] : open_entry(cell, stream);
    move_unit(cell, r, 1);
    after.component[i] = static_cast<std::uint32_t>(r);
  }
  for (std::size_t i = parts.of_ones; i < parts.size(); ++i)
    after.add(parts.cell(i), parts.component[i], parts.count[i]);
  parts = std::move(after);
}

void ColumnMoves::move_unit(const std::uint32_t* cell, std::size_t r, double by) {
  change(cell, r, by);
  from_ones_[r] += static_cast<std::int64_t>(by);
  for (std::size_t k = 0; k < K_; ++k) {
    const std::size_t f = matrix_[k], q = c_[k][r];
    divisor_[f][q] = 1 / (a_[f] * static_cast<double>(S_[f].rows()) + sum_[f][q]);
  }
}

// B_k(q) = (a + S[i_k, q]) / (n a + S_q)
void ColumnMoves::set_predictives(const std::uint32_t* cell) {
  for (std::size_t k = 0; k < K_; ++k) {
    const std::size_t f = matrix_[k], P = predictive_[k].size();
    if (S_[f].rows() == 0) continue;
    const double a = a_[f];
    const double* row = S_[f].row(cell[k]);
    const double* divisor = divisor_[f].data();
    double* predictive = predictive_[k].data();
    for (std::size_t q = 0; q < P; ++q) predictive[q] = (a + row[q]) * divisor[q];
  }
  if (second_tied_ < K_) set_tied_predictives(cell, tied_);
}

// (a + S[i_l, q] + 1(i_k = i_l)) / (n a + S_q + 1): with d = 1 / (n a + S_q), 1 / (n a + S_q + 1) is d / (1 + d).
void ColumnMoves::set_tied_predictives(const std::uint32_t* cell, std::vector<double>& tied) const {
  const std::size_t f = matrix_[first_tied_], P = predictive_[second_tied_].size();
  tied.resize(P);
  const double a = a_[f] + (cell[first_tied_] == cell[second_tied_] ? 1 : 0);
  const double* row = S_[f].row(cell[second_tied_]);
  const double* divisor = divisor_[f].data();
  for (std::size_t q = 0; q < P; ++q) tied[q] = (a + row[q]) * divisor[q] / (1 + divisor[q]);
}

double ColumnMoves::weight(std::size_t r) const {
  double product = shape_ + s_[r];
  for (std::size_t k = 0; k < K_; ++k) {
    if (S_[matrix_[k]].rows() == 0) continue;
    const std::size_t q = c_[k][r];
    product *= k == second_tied_ && q == c_[first_tied_][r] ? tied_[q] : predictive_[k][q];
  }
  return product;
}

// h_k(q), but for what all q share: the share of column q among components of mode k.
double ColumnMoves::column_share(std::size_t k, std::size_t q) const {
  return column_concentration + used_[k][q];
}

// The probability of a component that has no counts yet, its columns integrated out.
double ColumnMoves::new_weight(const std::uint32_t* cell) const {
  double product = static_cast<double>(empty_.size()) * shape_;
  double first_mass = 0;
  for (std::size_t k = 0; k < K_; ++k) {
    const std::size_t P = used_[k].size();
    const double all = static_cast<double>(P) * column_concentration + occupied_;
    double mass = 0;
    if (S_[matrix_[k]].rows() == 0) {
      mass = column_share(k, cell[k]);
    } else {
      for (std::size_t q = 0; q < P; ++q) mass += column_share(k, q) * predictive_[k][q];
    }
    if (k == second_tied_) {  // given the first: where both are in one column
      double together = 0;
      for (std::size_t q = 0; q < P; ++q)
        together += column_share(first_tied_, q) * predictive_[first_tied_][q] * column_share(k, q) *
                    (tied_[q] - predictive_[k][q]);
      mass += together / first_mass;
    }
    if (k == first_tied_) first_mass = mass;
    product *= mass / all;
  }
  return product;
}

std::size_t ColumnMoves::pick_empty(const std::vector<std::uint32_t>& empty, Stream& stream) const {
  return empty[stream.below(empty.size())];
}

// Takes a component without counts, which of them at random, and draws its columns.
std::size_t ColumnMoves::open_entry(const std::uint32_t* cell, Stream& stream) {
  const std::size_t r = pick_empty(empty_, stream);
  remove_from(empty_, place_, r);
  std::vector<double> shares;
  for (std::size_t k = 0; k < K_; ++k) {
    const std::size_t P = used_[k].size();
    if (S_[matrix_[k]].rows() == 0) {
      c_[k][r] = cell[k];
      continue;
    }
    shares.resize(P);
    for (std::size_t q = 0; q < P; ++q) shares[q] = column_share(k, q) * predictive_[k][q];
    if (k == first_tied_) {  // times what is left for the second
      double second = 0;
      for (std::size_t q = 0; q < P; ++q) second += column_share(second_tied_, q) * predictive_[second_tied_][q];
      for (std::size_t q = 0; q < P; ++q)
        shares[q] *= second + column_share(second_tied_, q) * (tied_[q] - predictive_[second_tied_][q]);
    }
    if (k == second_tied_) {
      const std::size_t q = c_[first_tied_][r];
      shares[q] = column_share(k, q) * tied_[q];
    }
    c_[k][r] = static_cast<std::uint32_t>(draw_place(shares, stream.uniform()));
  }
  occupy_entry(r);
  return r;
}

// ---- the step over components ---------------------------------------------------------------------------------------

// Every component with counts, one after the other, to a column of mode k.                                      (M53)
void ColumnMoves::move_components(const LatentParts& parts, std::size_t k, Stream& stream) {
  // By component, and in it by row: sorted by the row first.
  std::vector<std::uint32_t> by_row(parts.size()), by_component(parts.size());
  const auto counting_sort = [&](std::size_t keys, const auto& key, const std::vector<std::uint32_t>* before,
                                 std::vector<std::uint32_t>& after) {
    std::vector<std::size_t> begin(keys + 1, 0);
    for (std::size_t i = 0; i < parts.size(); ++i) ++begin[key(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::uint32_t part = before == nullptr ? static_cast<std::uint32_t>(i) : (*before)[i];
      after[begin[key(part)]++] = part;
    }
  };
  counting_sort(
      S_[matrix_[k]].rows(), [&](std::size_t i) { return parts.cell(i)[k]; }, nullptr, by_row);
  counting_sort(
      R_, [&](std::size_t i) { return parts.component[i]; }, &by_row, by_component);
  std::vector<RowCount> document;
  std::vector<double> weights;
  for (std::size_t begin = 0, end; begin < parts.size(); begin = end) {
    const std::size_t r = parts.component[by_component[begin]];
    document.clear();
    for (end = begin; end < parts.size() && parts.component[by_component[end]] == r; ++end) {
      const std::uint32_t part = by_component[end], row = parts.cell(part)[k];
      if (document.empty() || document.back().row != row) document.push_back({row, 0});
      document.back().count += parts.count[part];
    }
    move_component(k, r, document, stream, weights);
  }
}

void ColumnMoves::move_component(std::size_t k, std::size_t r, const std::vector<RowCount>& document, Stream& stream,
                                 std::vector<double>& weights) {
  const std::size_t f = matrix_[k], P = used_[k].size();
  Matrix<double>& S = S_[f];
  std::vector<double>& sum = sum_[f];
  const double a = a_[f];
  const auto put = [&](std::size_t q, double sign) {
    for (const RowCount& of_row : document) S.row(of_row.row)[q] += sign * static_cast<double>(of_row.count);
    sum[q] += sign * s_[r];
    used_[k][q] += sign;
  };
  put(c_[k][r], -1);
  weights.resize(P);
  for (std::size_t q = 0; q < P; ++q) weights[q] = column_share(k, q);
  multiply_by_document(S, sum, a, document, weights);
  const std::size_t q = draw_place(weights, stream.uniform());
  c_[k][r] = static_cast<std::uint32_t>(q);
  put(q, 1);
}

}  // namespace ztp
