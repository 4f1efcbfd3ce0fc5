#include "posterior/entity_rates.hpp"

#include <algorithm>

namespace ztp {
namespace {

// The other of two tied modes, if k is one of them.
std::optional<std::size_t> other_of(const std::optional<std::pair<std::size_t, std::size_t>>& pair, std::size_t k) {
  if (!pair || (pair->first != k && pair->second != k)) return std::nullopt;
  return pair->first == k ? pair->second : pair->first;
}

}  // namespace

EntityRates::EntityRates(const DrawsFile& draws, std::size_t mode, const CellFilter& filter, Pool& pool)
    : draws_(draws),
      mode_(mode),
      filter_(filter),
      pool_(pool),
      one_hot_(draws.factors().is_one_hot(draws.factors().matrix(mode))) {
  const GivenEntities& given = filter.given();
  const auto self = filter.self().modes();
  std::optional<std::pair<std::size_t, std::size_t>> both_summed;
  if (const auto twin = other_of(self, mode); twin && !given[*twin]) twin_ = twin;
  if (self && !other_of(self, mode) && !given[self->first] && !given[self->second]) both_summed = self;
  layouts_.reserve(draws.draws().size());
  for (std::size_t d = 0; d < draws.draws().size(); ++d) {
    rates_.emplace_back(layouts_.emplace_back(draws.layout(d)), draws.log_weights(d));
    for (std::size_t k = 0; k < given.size(); ++k)
      if (given[k]) give(d, k, *given[k]);
    if (both_summed) sum_out_pairs(d, both_summed->first, both_summed->second);
    for (std::size_t k = 0; k < given.size(); ++k) {
      const bool in_pair = both_summed && (k == both_summed->first || k == both_summed->second);
      if (!given[k] && k != mode && k != twin_ && !in_pair) sum_out(d, k);
    }
    if (!twin_) continue;
    with_twin_.push_back(rates_[d]);
    sum_out(d, *twin_);
  }
}

void EntityRates::give(std::size_t d, std::size_t k, std::uint32_t id) {
  const std::size_t f = draws_.factors().matrix(k);
  if (draws_.factors().is_one_hot(f))
    rates_[d] = rates_[d].given_own(k, id);
  else
    draws_.read_rows(d, f, {&id, 1}, [&](Range, const float* row) { rates_[d].give(k, row); });
}

// Of the matrix of mode k, without the rows of excluded entities.
std::vector<double> EntityRates::column_sums(std::size_t d, std::size_t k) const {
  const FactorLayout& layout = draws_.factors();
  const auto [rows, columns] = layout.size_of_mode(k);
  std::vector<double> sums(columns, 0.0);
  if (layout.is_one_hot(layout.matrix(k))) {  // the matrix is n times the identity
    for (std::size_t j = 0; j < rows; ++j)
      if (!is_excluded(filter_.excluded(), k, static_cast<std::uint32_t>(j))) sums[j] = static_cast<double>(rows);
    return sums;
  }
  draws_.read_factor(d, layout.matrix(k), [&](Range block, const float* values) {
    for (std::size_t j = block.begin; j < block.end; ++j, values += columns)
      if (!is_excluded(filter_.excluded(), k, static_cast<std::uint32_t>(j)))
        for (std::size_t q = 0; q < columns; ++q) sums[q] += static_cast<double>(values[q]);
  });
  return sums;
}

void EntityRates::sum_out(std::size_t d, std::size_t k) {
  const std::vector<double> sums = column_sums(d, k);
  rates_[d].multiply([&](std::size_t r) { return sums[layouts_[d].column(k, r)]; });
}

// Over the pairs of different entities of two tied modes: all pairs but those of an entity with itself.
void EntityRates::sum_out_pairs(std::size_t d, std::size_t k, std::size_t l) {
  const FactorLayout& layout = layouts_[d];
  const std::size_t columns = layout.size_of_mode(k).columns;
  const std::vector<double> of_k = column_sums(d, k), of_l = column_sums(d, l);
  std::vector<double> same(layout.components(), 0.0);
  draws_.read_factor(d, layout.matrix(k), [&](Range block, const float* values) {
    for (std::size_t j = block.begin; j < block.end; ++j, values += columns) {
      const std::uint32_t id = static_cast<std::uint32_t>(j);
      if (is_excluded(filter_.excluded(), k, id) || is_excluded(filter_.excluded(), l, id)) continue;
      for (std::size_t r = 0; r < same.size(); ++r)
        same[r] += static_cast<double>(values[layout.column(k, r)]) * static_cast<double>(values[layout.column(l, r)]);
    }
  });
  rates_[d].multiply(
      [&](std::size_t r) { return std::max(0.0, of_k[layout.column(k, r)] * of_l[layout.column(l, r)] - same[r]); });
}

double EntityRates::cells(std::uint32_t id) const {
  const GivenEntities& given = filter_.given();
  const ExcludedEntities& excluded = filter_.excluded();
  const FactorLayout& layout = draws_.factors();
  const auto left = [&](std::size_t k) {
    return static_cast<double>(layout.size_of_mode(k).rows - excluded[k].size());
  };
  const auto self = filter_.self().modes();
  double cells = 1;
  for (std::size_t k = 0; k < given.size(); ++k)
    if (!given[k] && k != mode_) cells *= left(k);
  if (!self || cells == 0) return cells;
  const auto [k, l] = *self;
  if (twin_ && !is_excluded(excluded, *twin_, id)) return cells / left(*twin_) * (left(*twin_) - 1);
  if (mode_ == k || mode_ == l || given[k] || given[l]) return cells;
  std::vector<std::uint32_t> either;
  std::set_union(excluded[k].begin(), excluded[k].end(), excluded[l].begin(), excluded[l].end(),
                 std::back_inserter(either));
  const double same = static_cast<double>(layout.size_of_mode(k).rows - either.size());
  return cells / (left(k) * left(l)) * (left(k) * left(l) - same);
}

template <class Use>
void EntityRates::for_rows(std::size_t d, std::span<const std::uint32_t> ids, const Use& use) const {
  const std::size_t columns = draws_.factors().size_of_mode(mode_).columns;
  constexpr std::size_t at_a_time = 256;
  const auto use_all = [&](Range places, const float* rows) {
    const Blocks blocks{places.size(), at_a_time};
    pool_.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c)
        use(places.begin + c, rows == nullptr ? nullptr : rows + c * columns);
    });
  };
  if (one_hot_) return use_all({0, ids.size()}, nullptr);
  draws_.read_rows(d, draws_.factors().matrix(mode_), ids, use_all);
}

void EntityRates::rates(std::size_t d, std::span<const std::uint32_t> ids, double* z) const {
  const ColumnRates columns = rates_[d].columns(mode_);
  for_rows(d, ids, [&](std::size_t c, const float* row) {
    z[c] = one_hot_ ? columns.of_own(ids[c]) : columns.of(row);
    if (twin_ && !is_excluded(filter_.excluded(), *twin_, ids[c])) z[c] -= with_twin_[d].of_both(mode_, *twin_, row);
  });
}

void EntityRates::parts(std::size_t d, std::span<const std::uint32_t> ids, double* parts) const {
  const std::size_t R = layouts_[d].components();
  for_rows(d, ids, [&](std::size_t c, const float* row) {
    double* mine = parts + c * R;
    std::fill_n(mine, R, 0.0);
    OpenRates given = one_hot_ ? rates_[d].given_own(mode_, ids[c]) : rates_[d];
    if (!one_hot_) given.give(mode_, row);
    given.for_parts([&](std::size_t r, double part) { mine[r] += part; });
    if (!twin_ || is_excluded(filter_.excluded(), *twin_, ids[c])) return;
    OpenRates same = with_twin_[d];
    same.give(mode_, row);
    same.give(*twin_, row);
    same.for_parts([&](std::size_t r, double part) { mine[r] -= part; });
  });
}

}  // namespace ztp
