#include "store/draw_rows.hpp"

namespace ztp {

bool RowSet::add(std::uint32_t row) {
  const std::uint64_t bit = std::uint64_t{1} << row % 64;
  std::uint64_t& word = words_[row / 64];
  if ((word & bit) != 0) return false;
  word |= bit;
  ++size_;
  return true;
}

std::vector<std::uint32_t> RowSet::ids() const {
  std::vector<std::uint32_t> ids;
  ids.reserve(size_);
  for (std::size_t w = 0; w < words_.size(); ++w)
    for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
      ids.push_back(static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(word)));
  return ids;
}

void RowSet::finish() {
  before_.resize(words_.size());
  std::uint32_t sum = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    before_[w] = sum;
    sum += static_cast<std::uint32_t>(std::popcount(words_[w]));
  }
}

double draw_bytes(const FactorLayout& layout) {
  double bytes = 0;
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    bytes += static_cast<double>(Matrix<float>::bytes_of(layout.size(f).rows, layout.size(f).columns));
  return bytes;
}

bool has_unseen_entities(const FactorLayout& layout, const std::uint32_t* cells, std::size_t count) {
  const std::size_t K = layout.modes();
  for (std::size_t k = 0; k < K; ++k) {
    const std::size_t rows = layout.size_of_mode(k).rows;
    for (std::size_t e = 0; e < count; ++e)
      if (cells[e * K + k] == rows) return true;
  }
  return false;
}

DrawRows::DrawRows(const DrawsFile& draws, const std::uint32_t* cells, std::size_t count, double room)
    : draws_(draws), given_(cells), layout_(draws.factors()) {
  const std::size_t K = layout_.modes();
  std::size_t rows = 0;
  for (std::size_t f = 0; f < layout_.matrices(); ++f) rows += layout_.size(f).rows;
  if (count >= rows && draw_bytes(layout_) <= room && !has_unseen_entities(layout_, cells, count)) {  // all of them
    cells_ = count;
    return;
  }
  std::vector<RowSet> sets;
  std::vector<double> bytes_of_row;
  for (std::size_t f = 0; f < layout_.matrices(); ++f) {
    sets.emplace_back(layout_.is_one_hot(f) ? 0 : layout_.size(f).rows + 1);
    bytes_of_row.push_back(static_cast<double>(Matrix<float>::bytes_of(1, layout_.size(f).columns)));
  }
  double bytes = 0;
  for (; cells_ < count && (cells_ == 0 || bytes <= room); ++cells_)
    for (std::size_t k = 0; k < K; ++k) {
      const std::size_t f = layout_.matrix(k);
      if (!layout_.is_one_hot(f) && sets[f].add(cells[cells_ * K + k])) bytes += bytes_of_row[f];
    }
  renumber(sets);
}

void DrawRows::renumber(std::vector<RowSet>& sets) {
  const std::size_t K = layout_.modes();
  std::vector<std::size_t> rows;
  for (std::size_t f = 0; f < sets.size(); ++f) {
    ids_.push_back(sets[f].ids());
    sets[f].finish();
    rows.push_back(layout_.is_one_hot(f) ? layout_.size(f).rows : sets[f].size());
    unseen_.push_back(!ids_[f].empty() && ids_[f].back() == layout_.size(f).rows);
    if (unseen_[f]) ids_[f].pop_back();
  }
  renumbered_.append(given_, cells_ * K);
  for (std::size_t k = 0; k < K; ++k) {
    const std::size_t f = layout_.matrix(k);
    for (std::size_t i = k; i < renumbered_.size() && !layout_.is_one_hot(f); i += K)
      renumbered_[i] = sets[f].place(renumbered_[i]);
  }
  layout_ = layout_.with_rows(rows);
}

State DrawRows::make_state(ArrayMaker& arrays) const {
  if (ids_.empty()) return draws_.make_state(arrays);
  const FactorLayout& whole = draws_.factors();
  State state;
  state.layout = whole;
  state.tensor = Weights(whole.components());
  for (std::size_t f = 0; f < whole.matrices(); ++f) {
    const auto [rows, columns] = layout_.size(f);
    state.factors.push_back(arrays.factors(rows, columns, {.all = whole.size(f).rows, .matrix = f}));
    if (whole.is_one_hot(f)) set_identity(*state.factors[f]);
  }
  return state;
}

void DrawRows::load(std::size_t i, State& state) const {
  if (ids_.empty()) return draws_.load(i, state);
  draws_.load_weights(i, state);
  for (std::size_t f = 0; f < ids_.size(); ++f) {
    draws_.read_rows(i, f, ids_[f],
                     [&](Range places, const float* values) { state.factors[f]->write(places, values); });
    // Values are times n, so the mean over all entities, 1/n in each column, is 1.
    const std::vector<float> mean(unseen_[f] ? layout_.size(f).columns : 0, 1.0f);
    if (unseen_[f]) state.factors[f]->write({ids_[f].size(), ids_[f].size() + 1}, mean.data());
  }
}

}  // namespace ztp
