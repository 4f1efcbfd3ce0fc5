#include "sampler/token_scan.hpp"

#include <algorithm>

#include "sampler/draw_place.hpp"

namespace ztp {

void OpenRow::open(SparseRow& row) {
  row_ = &row;
  for (const ColumnCount& of_column : row) count_[of_column.column] = of_column.count;
}

void OpenRow::close() {
  if (row_ == nullptr) return;
  for (ColumnCount& of_column : *row_) {
    of_column.count = count_[of_column.column];
    count_[of_column.column] = 0;
  }
  std::erase_if(*row_, [](const ColumnCount& of_column) { return of_column.count == 0; });
  row_ = nullptr;
}

void OpenRow::add(std::uint32_t column, double by) {
  if (count_[column] == 0 && std::none_of(row_->begin(), row_->end(), [column](const ColumnCount& of_column) {
        return of_column.column == column;
      }))
    row_->push_back({column, 0});
  count_[column] += by;
}

namespace {

bool same_cell(const LatentParts& parts, std::size_t i, std::size_t j) {
  return std::equal(parts.cell(i), parts.cell(i) + parts.K, parts.cell(j));
}

}  // namespace

TokenScan::TokenScan(const Problem& problem) {
  const FactorLayout& layout = problem.layout;
  for (std::size_t k = 0; k < layout.modes(); ++k)
    slot_.emplace_back(layout.is_one_hot(layout.matrix(k)) ? 0 : layout.size_of_mode(k).columns);
  row_.resize(layout.modes());
}

// All units of a cell are alike, and which of them moves is drawn without a look at their components.
void TokenScan::run(LatentParts& parts, Stream stream, ColumnState& state) {
  begin(state);
  std::vector<std::uint32_t> cell(state.K);
  for (std::size_t i = 0, end; i < parts.of_ones; i = end) {
    std::int64_t units = 0;
    for (end = i; end < parts.of_ones && same_cell(parts, i, end); ++end) units += parts.count[end];
    std::int64_t place = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(units)));
    std::size_t part = i;
    while (place >= parts.count[part]) place -= parts.count[part++];
    std::copy(parts.cell(i), parts.cell(i) + state.K, cell.begin());  // parts may move when one is added
    open_rows(cell.data());
    const std::size_t before = parts.component[part];
    move_unit(before, -1);
    const std::size_t r = draw_component(cell.data(), stream);
    move_unit(r, 1);
    if (r == before) continue;
    if (parts.count[part] == 1) {
      parts.component[part] = static_cast<std::uint32_t>(r);
    } else {
      --parts.count[part];
      parts.add(cell.data(), r, 1);
    }
  }
  for (OpenRow& slot : slot_) slot.close();
}

void TokenScan::begin(ColumnState& state) {
  state_ = &state;
  first_tied_ = corrects_ties_ ? state.first_tied : state.K;
  second_tied_ = corrects_ties_ ? state.second_tied : state.K;
  divisor_.assign(state.rows.size(), {});
  share_.assign(state.K, {});
  for (std::size_t k = 0; k < state.K; ++k) share_[k].assign(state.used[k].size(), 0.0);
  all_shares_.assign(state.K, 0.0);
  all_together_ = 0;
  if (second_tied_ < state.K) together_.assign(state.used[second_tied_].size(), 0.0);
  for (std::size_t f = 0; f < state.rows.size(); ++f) {
    divisor_[f].resize(state.sum[f].size());
    for (std::size_t q = 0; q < state.sum[f].size() && !state.rows[f].empty(); ++q) column_changed(f, q);
  }
  const bool lists_by_entity = state.one_hot < state.K;
  candidates_.assign(lists_by_entity ? state.used[state.one_hot].size() : 1, {});
  for (Candidates& list : candidates_) list.column.resize(state.K);
  empty_.clear();
  place_.resize(state.R);
  for (std::size_t r = 0; r < state.R; ++r) {
    if (state.s[r] > 0) {
      add_candidate(r);
    } else {
      place_[r] = static_cast<std::uint32_t>(empty_.size());
      empty_.push_back(static_cast<std::uint32_t>(r));
    }
  }
}

// Tied modes may have the same row: they then look at one copy of it.
void TokenScan::open_rows(const std::uint32_t* cell) {
  const ColumnState& state = *state_;
  const auto row = [&](std::size_t k) -> SparseRow& { return state_->rows[state.matrix[k]][cell[k]]; };
  const bool tied = state.second_tied < state.K;
  same_entity_ = tied && cell[state.first_tied] == cell[state.second_tied];
  for (std::size_t k = 0; k < state.K; ++k)
    if (!state.is_one_hot(k) && (!slot_[k].is(row(k)) || (same_entity_ && k == state.second_tied))) slot_[k].close();
  for (std::size_t k = 0; k < state.K; ++k) {
    if (state.is_one_hot(k)) continue;
    row_[k] = &slot_[same_entity_ && k == state.second_tied ? state.first_tied : k];
    if (!row_[k]->is(row(k))) row_[k]->open(row(k));
  }
}

Candidates& TokenScan::candidates_with(std::size_t r) {
  return candidates_of(state_->one_hot == state_->K ? 0 : state_->c[state_->one_hot][r]);
}

void TokenScan::add_candidate(std::size_t r) {
  Candidates& list = candidates_with(r);
  place_[r] = static_cast<std::uint32_t>(list.component.size());
  list.component.push_back(static_cast<std::uint32_t>(r));
  list.count.push_back(state_->s[r]);
  for (std::size_t k = 0; k < state_->K; ++k) list.column[k].push_back(state_->c[k][r]);
}

void TokenScan::remove_candidate(std::size_t r) {
  Candidates& list = candidates_with(r);
  const std::size_t place = place_[r];
  place_[list.component.back()] = static_cast<std::uint32_t>(place);
  const auto remove = [place](auto& values) {
    values[place] = values.back();
    values.pop_back();
  };
  remove(list.component);
  remove(list.count);
  for (std::vector<std::uint32_t>& of_mode : list.column) remove(of_mode);
}

// What follows from the counts and the components of column q of matrix f.
void TokenScan::column_changed(std::size_t f, std::size_t q) {
  const ColumnState& state = *state_;
  const double d = divisor_[f][q] = 1 / (state.prior_mass(f) + state.sum[f][q]);
  for (std::size_t k = 0; k < state.K; ++k) {
    if (state.matrix[k] != f) continue;
    const double share = state.column_share(k, q) * d;
    all_shares_[k] += share - share_[k][q];
    share_[k][q] = share;
  }
  if (second_tied_ == state.K || state.matrix[second_tied_] != f) return;
  const double both = -share_[first_tied_][q] * share_[second_tied_][q] * d / (1 + d);
  all_together_ += both - together_[q];
  together_[q] = both;
}

void TokenScan::move_unit(std::size_t r, double by) {
  ColumnState& state = *state_;
  for (std::size_t k = 0; k < state.K; ++k) {
    const std::uint32_t q = state.c[k][r];
    state.sum[state.matrix[k]][q] += by;
    if (!state.is_one_hot(k)) row_[k]->add(q, by);
  }
  state.s[r] += by;
  state.from_ones[r] += static_cast<std::int64_t>(by);
  candidates_with(r).count[place_[r]] += by;
  if (by < 0 && state.s[r] == 0) {
    state.vacate(r);
    remove_candidate(r);
    place_[r] = static_cast<std::uint32_t>(empty_.size());
    empty_.push_back(static_cast<std::uint32_t>(r));
  }
  for (std::size_t k = 0; k < state.K; ++k)
    if (!state.is_one_hot(k)) column_changed(state.matrix[k], state.c[k][r]);
}

std::size_t TokenScan::draw_component(const std::uint32_t* cell, Stream& stream) {
  const Candidates& candidates = candidates_of(state_->one_hot == state_->K ? 0 : cell[state_->one_hot]);
  const std::size_t count = candidates.component.size();
  weigh(cell, candidates);
  weights_.push_back(new_weight(cell));
  const std::size_t found = draw_place(weights_, stream.uniform());
  return found < count ? candidates.component[found] : open_component(cell, stream);
}

// B_k(q) = (a + S[i_k, q]) / (n a + S_q)
double TokenScan::predictive(std::size_t k, std::size_t q) const {
  const std::size_t f = state_->matrix[k];
  return (state_->a[f] + row_[k]->counts()[q]) * divisor_[f][q];
}

// (a + S[i_l, q] + 1(i_k = i_l)) / (n a + S_q + 1): with d = 1 / (n a + S_q), 1 / (n a + S_q + 1) is d / (1 + d).
double TokenScan::tied_predictive(std::size_t q) const {
  const std::size_t f = state_->matrix[second_tied_];
  const double d = divisor_[f][q], a = state_->a[f] + (same_entity_ ? 1 : 0);
  return (a + row_[second_tied_]->counts()[q]) * d / (1 + d);
}

// Mode by mode, so that each pass is a short loop over arrays.
void TokenScan::weigh(const std::uint32_t* cell, const Candidates& candidates) {
  const ColumnState& state = *state_;
  const std::size_t count = candidates.component.size();
  weights_.resize(count);
  double* weight = weights_.data();
  for (std::size_t i = 0; i < count; ++i) weight[i] = state.g + candidates.count[i];
  for (std::size_t k = 0; k < state.K; ++k) {
    const std::uint32_t* column = candidates.column[k].data();
    if (state.is_one_hot(k)) {
      for (std::size_t i = 0; i < count && k != state.one_hot; ++i) weight[i] *= column[i] == cell[k] ? 1 : 0;
      continue;
    }
    const double a = state.a[state.matrix[k]];
    const double* row = row_[k]->counts();
    const double* divisor = divisor_[state.matrix[k]].data();
    for (std::size_t i = 0; i < count; ++i) weight[i] *= (a + row[column[i]]) * divisor[column[i]];
    if (k != second_tied_) continue;
    const std::uint32_t* first = candidates.column[first_tied_].data();
    for (std::size_t i = 0; i < count; ++i)
      if (first[i] == column[i]) weight[i] *= tied_predictive(column[i]) / predictive(k, column[i]);
  }
}

// The probability of a component that has no counts yet, its columns integrated out. The sum over q of h_k(q) B_k(q)
// has the same term a h_k(q) / (n a + S_q) for all rows, so that only the columns of the row are looked at.
double TokenScan::new_weight(const std::uint32_t* cell) const {
  const ColumnState& state = *state_;
  double product = static_cast<double>(empty_.size()) * state.g;
  double first_mass = 0;
  for (std::size_t k = 0; k < state.K; ++k) {
    const double all = static_cast<double>(state.used[k].size()) * column_concentration + state.occupied;
    double mass = 0;
    if (state.is_one_hot(k)) {
      mass = state.column_share(k, cell[k]);
    } else {
      mass = state.a[state.matrix[k]] * all_shares_[k];
      for (const ColumnCount& of_column : row_[k]->columns())
        mass += share_[k][of_column.column] * row_[k]->counts()[of_column.column];
    }
    if (k == first_tied_) first_mass = mass;
    if (k == second_tied_) mass += mass_together() / first_mass;
    product *= mass / all;
  }
  return product;
}

// sum over q of h_k(q) B_k(q) h_l(q) (the second factor, both in column q, less B_l(q)), k and l tied.
double TokenScan::mass_together() const {
  const double* first = row_[first_tied_]->counts();
  const double* second = row_[second_tied_]->counts();
  const std::size_t f = state_->matrix[first_tied_];
  const double a = state_->a[f];
  double mass = a * a * all_together_;
  for (const ColumnCount& of_column : row_[first_tied_]->columns()) {
    const std::size_t q = of_column.column;
    mass += together_[q] * first[q] * (a + second[q]);
  }
  for (const ColumnCount& of_column : row_[second_tied_]->columns())
    mass += a * together_[of_column.column] * second[of_column.column];
  for (std::size_t q = 0; same_entity_ && q < together_.size(); ++q) {
    const double d = divisor_[f][q];
    mass += share_[first_tied_][q] * (a + first[q]) * state_->column_share(second_tied_, q) * d / (1 + d);
  }
  return mass;
}

std::size_t TokenScan::pick_empty(const std::vector<std::uint32_t>& empty, Stream& stream) const {
  return empty[stream.below(empty.size())];
}

// Takes a component without counts, which of them at random, and draws its columns.
std::size_t TokenScan::open_component(const std::uint32_t* cell, Stream& stream) {
  ColumnState& state = *state_;
  const std::size_t r = pick_empty(empty_, stream);
  place_[empty_.back()] = place_[r];
  empty_[place_[r]] = empty_.back();
  empty_.pop_back();
  std::vector<double> shares;
  for (std::size_t k = 0; k < state.K; ++k) {
    if (state.is_one_hot(k)) {
      state.c[k][r] = cell[k];
      continue;
    }
    const std::size_t P = state.used[k].size();
    shares.resize(P);
    for (std::size_t q = 0; q < P; ++q) shares[q] = state.column_share(k, q) * predictive(k, q);
    if (k == first_tied_) {  // times what is left for the second
      const auto share = [&](std::size_t q) { return state.column_share(second_tied_, q); };
      double second = 0;
      for (std::size_t q = 0; q < P; ++q) second += share(q) * predictive(second_tied_, q);
      for (std::size_t q = 0; q < P; ++q)
        shares[q] *= second + share(q) * (tied_predictive(q) - predictive(second_tied_, q));
    }
    if (k == second_tied_) {
      const std::size_t q = state.c[first_tied_][r];
      shares[q] = state.column_share(k, q) * tied_predictive(q);
    }
    state.c[k][r] = static_cast<std::uint32_t>(draw_place(shares, stream.uniform()));
  }
  state.occupy(r);
  add_candidate(r);
  return r;
}

}  // namespace ztp
