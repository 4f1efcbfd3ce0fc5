#include "posterior/top_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ztp {
namespace {

bool better(const ScoredCell& a, const ScoredCell& b) {
  return a.score != b.score ? a.score > b.score : a.cell < b.cell;
}

}  // namespace

TopSearch::TopSearch(OpenCells cells, std::size_t top, Pool& pool, std::optional<std::size_t> distinct)
    : cells_(std::move(cells)), top_(top), pool_(pool), distinct_(distinct) {
  // Few candidates first: the last mode is scored in bulk.
  std::sort(cells_.open.begin(), cells_.open.end(), [](const OpenMode& a, const OpenMode& b) {
    return a.one_hot != b.one_hot ? a.one_hot : a.ids.size() < b.ids.size();
  });
}

std::vector<ScoredCell> TopSearch::run(const std::function<bool(const std::uint32_t*)>& skip) {
  skip_ = &skip;
  descend(0, cells_.rates);
  std::sort(best_.begin(), best_.end(), better);
  return best_;
}

// For each candidate of the mode at this level: an upper bound over all completions, which at the last level is the
// score.
std::vector<double> TopSearch::bounds(std::size_t level, const std::vector<OpenRates>& rates) const {
  const OpenMode& mode = cells_.open[level];
  const std::size_t draws = rates.size(), width = draws * mode.columns;
  std::vector<ColumnRates> columns;
  for (std::size_t d = 0; d < draws; ++d) {
    OpenRates of_draw = rates[d];
    for (std::size_t later = level + 1; later < cells_.open.size(); ++later)
      of_draw.give(cells_.open[later].mode, cells_.open[later].largest.data() + d * cells_.open[later].columns);
    columns.push_back(of_draw.columns(mode.mode));
  }
  std::vector<double> bound(mode.ids.size());
  const Blocks blocks{mode.ids.size(), 64};
  pool_.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c) {
      bound[c] = cells_.chains->combine([&](std::size_t d) {
        return -std::expm1(-(mode.one_hot ? columns[d].of_own(mode.ids[c])
                                          : columns[d].of(mode.rows.data() + c * width + d * mode.columns)));
      });
    }
  });
  return bound;
}

// The rates with candidate c of a mode given.
void TopSearch::give(const OpenMode& mode, std::size_t c, const std::vector<OpenRates>& rates,
                     std::vector<OpenRates>& given) {
  if (!mode.one_hot) given = rates;
  if (mode.one_hot) given.clear();
  for (std::size_t d = 0; d < rates.size(); ++d)
    if (mode.one_hot)
      given.push_back(rates[d].given_own(mode.mode, mode.ids[c]));
    else
      given[d].give(mode.mode, mode.rows.data() + (c * rates.size() + d) * mode.columns);
}

void TopSearch::descend(std::size_t level, const std::vector<OpenRates>& rates) {
  if (level == cells_.open.size()) {
    return offer(cells_.chains->combine([&](std::size_t d) { return -std::expm1(-rates[d].rate()); }));
  }
  const OpenMode& mode = cells_.open[level];
  const std::vector<double> bound = bounds(level, rates);
  std::vector<std::size_t> order(mode.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bound[a] > bound[b]; });
  const bool last = level + 1 == cells_.open.size();
  std::vector<OpenRates> given;
  for (const std::size_t c : order) {
    if (best_.size() == top_ && bound[c] * bound_slack < best_.front().score) break;
    cells_.cell[mode.mode] = mode.ids[c];
    if (last) {
      offer(bound[c]);
      continue;
    }
    give(mode, c, rates, given);
    descend(level + 1, given);
  }
}

void TopSearch::offer(double score) {
  ScoredCell candidate{score, cells_.cell};
  if (best_.size() == top_ && !better(candidate, best_.front())) return;
  if ((*skip_)(cells_.cell.data()) || replace_same_entity(candidate)) return;
  if (best_.size() == top_) drop_worst();
  keep(std::move(candidate));
}

void TopSearch::keep(ScoredCell cell) {
  if (distinct_) entities_.insert(cell.cell[*distinct_]);
  best_.push_back(std::move(cell));
  std::push_heap(best_.begin(), best_.end(), better);
}

void TopSearch::drop_worst() {
  std::pop_heap(best_.begin(), best_.end(), better);
  if (distinct_) entities_.erase(best_.back().cell[*distinct_]);
  best_.pop_back();
}

// Whether its entity of the distinct mode has a cell already; the better of the two stays.
bool TopSearch::replace_same_entity(ScoredCell& cell) {
  if (!distinct_ || !entities_.contains(cell.cell[*distinct_])) return false;
  const auto known = std::find_if(best_.begin(), best_.end(), [&](const ScoredCell& other) {
    return other.cell[*distinct_] == cell.cell[*distinct_];
  });
  if (!better(cell, *known)) return true;
  *known = std::move(cell);
  std::make_heap(best_.begin(), best_.end(), better);
  return true;
}

}  // namespace ztp
