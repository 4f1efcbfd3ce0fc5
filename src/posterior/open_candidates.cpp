#include "posterior/open_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <span>

#include "base/memory.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t beam_cells = 20000;
constexpr double most_row_bytes = 8.0 * (1 << 30);
constexpr double most_at_first = 256 << 20;  // of all rows: then they are read once
constexpr double most_of_block = 256 << 20;
constexpr double bytes_of_candidate = 32;  // its id and bound, with what is made of them on the way

// The largest rates, at one draw, of cells that have a certain entity of an open mode: the other open modes have the
// largest values of their candidates, but for a one-hot mode, of which it is one entity or another.
class CandidateRates {
 public:
  CandidateRates(const OpenCells& cells, std::size_t o, std::size_t d) : mode_(cells.open[o]) {
    const std::vector<OpenMode>& open = cells.open;
    OpenRates rates = cells.rates[d];
    std::size_t own = open.size();
    for (std::size_t other = 0; other < open.size(); ++other) {
      if (other != o) rates.give(open[other].mode, open[other].largest.data() + d * open[other].columns);
      if (other != o && open[other].one_hot && !mode_.one_hot) own = other;
    }
    if (own < open.size())
      by_entity_ = rates.columns_by_entity(mode_.mode, open[own].mode);
    else
      columns_ = rates.columns(mode_.mode);
  }
  double of(std::uint32_t id, const float* row) const {
    if (mode_.one_hot) return columns_.of_own(id);
    return by_entity_ ? by_entity_->largest(row) : columns_.of(row);
  }

 private:
  const OpenMode& mode_;
  ColumnRates columns_;
  std::optional<GroupedRates> by_entity_;  // where a one-hot mode is open, too
};

// The candidates with the largest bounds seen so far.
class BestBounds {
 public:
  explicit BestBounds(std::size_t most) : most_(std::max<std::size_t>(most, 2)) {}
  void add(std::uint32_t id, double bound) {
    ids.push_back(id);
    bounds.push_back(bound);
    if (ids.size() > most_) drop_half();
  }
  std::vector<std::uint32_t> ids;
  std::vector<double> bounds;
  double dropped = -1;  // no bound that was dropped is larger

 private:
  void drop_half() {
    std::vector<double> order = bounds;
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::nth_element(order.begin(), middle, order.end());
    dropped = std::max(dropped, *middle);
    std::size_t kept = 0;
    for (std::size_t c = 0; c < ids.size(); ++c) {
      if (bounds[c] <= *middle) continue;
      ids[kept] = ids[c];
      bounds[kept++] = bounds[c];
    }
    ids.resize(kept);
    bounds.resize(kept);
  }
  std::size_t most_;
};

void leave_out(const std::vector<std::uint32_t>& excluded, OpenMode& mode) {
  std::vector<std::uint32_t> all(mode.all);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  std::set_difference(all.begin(), all.end(), excluded.begin(), excluded.end(), std::back_inserter(mode.ids));
  mode.all = 0;
}

}  // namespace

OpenCandidates::OpenCandidates(const DrawsFile& draws, const ChainDraws& chains,
                               const std::vector<std::optional<std::uint32_t>>& given,
                               const std::vector<std::vector<std::uint32_t>>& excluded, double room, Pool& pool)
    : draws_(draws), layout_(draws.factors()), D_(draws.draws().size()), room_(room), pool_(pool) {
  cells_.chains = &chains;
  cells_.layouts.reserve(D_);  // rates refer to them
  for (std::size_t d = 0; d < D_; ++d)
    cells_.rates.emplace_back(cells_.layouts.emplace_back(draws.layout(d)), draws.log_weights(d));
  for (std::size_t k = 0; k < given.size(); ++k) {
    cells_.cell.push_back(given[k].value_or(0));
    if (given[k]) {
      give(k, *given[k]);
      continue;
    }
    OpenMode& mode = cells_.open.emplace_back();
    mode.mode = k;
    mode.columns = layout_.size_of_mode(k).columns;
    mode.one_hot = layout_.is_one_hot(layout_.matrix(k));
    mode.all = layout_.size_of_mode(k).rows;
    if (k < excluded.size() && !excluded[k].empty()) leave_out(excluded[k], mode);
  }
  bound_.resize(cells_.open.size());
  if (bytes() <= std::min(most_at_first, room_)) load_rows();
}

bool OpenCandidates::no_cells() const {
  return std::any_of(cells_.open.begin(), cells_.open.end(), [](const OpenMode& mode) { return mode.size() == 0; });
}

void OpenCandidates::give(std::size_t k, std::uint32_t id) {
  const std::size_t f = layout_.matrix(k);
  const bool one_hot = layout_.is_one_hot(f);
  for (std::size_t d = 0; d < D_; ++d)
    if (one_hot)
      cells_.rates[d] = cells_.rates[d].given_own(k, id);
    else
      draws_.read_rows(d, f, {&id, 1}, [&](Range, const float* row) { cells_.rates[d].give(k, row); });
}

double OpenCandidates::bytes() const {
  double bytes = 0;
  for (const OpenMode& mode : cells_.open)
    if (!mode.one_hot)
      bytes += static_cast<double>(mode.size()) * static_cast<double>(D_ * mode.columns * sizeof(float));
  return bytes;
}

std::vector<float> OpenCandidates::read_rows(const OpenMode& mode, Range candidates) const {
  const std::size_t P = mode.columns;
  std::vector<std::uint32_t> ids(candidates.size());
  for (std::size_t c = 0; c < ids.size(); ++c) ids[c] = mode.id(candidates.begin + c);
  std::vector<float> rows(ids.size() * D_ * P);
  for (std::size_t d = 0; d < D_; ++d)
    draws_.read_rows(d, layout_.matrix(mode.mode), ids, [&](Range places, const float* values) {
      for (std::size_t c = places.begin; c < places.end; ++c, values += P)
        std::copy_n(values, P, rows.data() + (c * D_ + d) * P);
    });
  return rows;
}

void OpenCandidates::load_rows() {
  for (OpenMode& mode : cells_.open)
    if (!mode.one_hot) mode.rows = read_rows(mode, {0, mode.size()});
  loaded_ = true;
}

void OpenCandidates::for_rows(const OpenMode& mode, const UseRows& use) const {
  if (mode.one_hot) return use({0, mode.size()}, nullptr);
  if (loaded_) return use({0, mode.size()}, mode.rows.data());
  const double bytes = std::min(most_of_block, room_ / 4), of_row = static_cast<double>(D_ * mode.columns * 4);
  const Blocks blocks{mode.size(), std::max<std::size_t>(1, static_cast<std::size_t>(bytes / of_row))};
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    const Range candidates{blocks.begin(b), blocks.end(b)};
    use(candidates, read_rows(mode, candidates).data());
  }
}

// Of each column in each draw. The matrix of a one-hot mode is n times the identity.
void OpenCandidates::find_largest(OpenMode& mode) const {
  const std::size_t width = D_ * mode.columns;
  mode.largest.assign(width, 0.0f);
  if (mode.one_hot) {
    for (std::size_t d = 0; d < D_; ++d)
      for (std::size_t c = 0; c < mode.size(); ++c)
        mode.largest[d * mode.columns + mode.id(c)] = static_cast<float>(mode.columns);
    return;
  }
  const Blocks parts{width, 1024};
  for_rows(mode, [&](Range candidates, const float* rows) {
    pool_.for_blocks(parts.count(), [&](std::size_t p) {
      for (std::size_t c = 0; c < candidates.size(); ++c)
        for (std::size_t x = parts.begin(p); x < parts.end(p); ++x)
          mode.largest[x] = std::max(mode.largest[x], rows[c * width + x]);
    });
  });
}

void OpenCandidates::find_bounds(std::size_t o) {
  OpenMode& mode = cells_.open[o];
  const double modes = static_cast<double>(cells_.open.size());
  BestBounds best(loaded_ || mode.one_hot ? mode.size()
                                          : static_cast<std::size_t>(room_ / 4 / modes / bytes_of_candidate));
  std::vector<CandidateRates> rates;
  for (std::size_t d = 0; d < D_; ++d) rates.emplace_back(cells_, o, d);
  for_rows(mode, [&](Range candidates, const float* rows) {
    std::vector<double> bound(candidates.size());
    const Blocks blocks{bound.size(), 256};
    pool_.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c)
        bound[c] = cells_.chains->combine([&](std::size_t d) {
          const float* row = mode.one_hot ? nullptr : rows + (c * D_ + d) * mode.columns;
          return -std::expm1(-rates[d].of(mode.id(candidates.begin + c), row));
        });
    });
    for (std::size_t c = 0; c < bound.size(); ++c) best.add(mode.id(candidates.begin + c), bound[c]);
  });
  dropped_ = std::max(dropped_, best.dropped);
  mode.ids = std::move(best.ids);
  mode.all = 0;
  bound_[o] = std::move(best.bounds);
}

Buffer<std::uint32_t> OpenCandidates::promising_cells() {
  std::vector<OpenMode>& open = cells_.open;
  for (OpenMode& mode : open)
    if (open.size() > 1) find_largest(mode);
  for (std::size_t o = 0; o < open.size(); ++o) find_bounds(o);
  const std::vector<std::uint32_t>& cell = cells_.cell;
  const double side = std::pow(static_cast<double>(beam_cells), 1 / static_cast<double>(open.size()));
  Buffer<std::uint32_t> cells;
  cells.append(cell.data(), cell.size());
  for (std::size_t o = 0; o < open.size(); ++o) {
    std::vector<std::size_t> order(open[o].ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t count = std::min(order.size(), static_cast<std::size_t>(side) + 1);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](std::size_t a, std::size_t b) { return bound_[o][a] > bound_[o][b]; });
    Buffer<std::uint32_t> grown;
    for (std::size_t i = 0; i < cells.size(); i += cell.size())
      for (std::size_t c = 0; c < count; ++c) {
        grown.append(cells.data() + i, cell.size());
        grown[grown.size() - cell.size() + open[o].mode] = open[o].ids[order[c]];
      }
    cells = std::move(grown);
  }
  return cells;
}

bool OpenCandidates::prune(double threshold) {
  bool shrunk = false;
  for (std::size_t o = 0; o < cells_.open.size(); ++o) {
    OpenMode& mode = cells_.open[o];
    const std::size_t before = mode.ids.size(), width = mode.rows.empty() ? 0 : D_ * mode.columns;
    std::size_t kept = 0;
    for (std::size_t c = 0; c < before; ++c) {
      if (bound_[o][c] * bound_slack < threshold) continue;
      if (kept != c) std::copy_n(mode.rows.data() + c * width, width, mode.rows.data() + kept * width);
      mode.ids[kept++] = mode.ids[c];
    }
    mode.ids.resize(kept);
    mode.rows.resize(kept * width);
    shrunk = shrunk || 10 * kept < 9 * before;
  }
  if (!loaded_ && bytes() <= std::min(most_row_bytes, room_)) load_rows();
  return shrunk;
}

OpenCells OpenCandidates::take(double reached) {
  const double most = std::min(most_row_bytes, room_);
  const bool lost = dropped_ >= 0 && dropped_ * bound_slack >= reached;  // a cell that is wanted may be
  if (lost || (!loaded_ && bytes() > most))
    throw Error(ErrorKind::config, fmt::format("too many cells are nearly as probable: {} of memory is not enough for "
                                               "the search; give another mode, ask for fewer cells, or allow more "
                                               "with --memory",
                                               human_bytes(most)));
  if (!loaded_) load_rows();
  for (OpenMode& mode : cells_.open) find_largest(mode);
  return std::move(cells_);
}

}  // namespace ztp
