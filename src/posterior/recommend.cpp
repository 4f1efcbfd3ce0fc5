#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "model/self_cells.hpp"
#include "posterior/posterior_impl.hpp"
#include "posterior/top_search.hpp"
#include "store/data.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t beam_cells = 20000;
constexpr int most_rounds = 6;
constexpr std::size_t cells_explained = 1000;
constexpr double most_row_bytes = 8.0 * (1 << 30);

// Of each column, over the candidates of a mode. The matrix of a one-hot mode is not looked at: it is n times the
// identity.
std::vector<float> largest_values(const OpenMode& mode, const Matrix<float>& u) {
  const std::vector<std::uint32_t>& ids = mode.ids;
  if (mode.one_hot) {
    std::vector<float> largest(mode.columns, 0.0f);
    for (const std::uint32_t id : ids) largest[id] = static_cast<float>(mode.columns);
    return largest;
  }
  std::vector<float> largest(u.columns(), 0.0f);
  for (const std::uint32_t id : ids)
    for (std::size_t q = 0; q < u.columns(); ++q) largest[q] = std::max(largest[q], u.row(id)[q]);
  return largest;
}

// All cells that agree with what is given.
OpenCells open_cells(const DrawsFile& draws, const FactorLayout& layout,
                     const std::vector<std::optional<std::uint32_t>>& given) {
  OpenCells cells;
  for (std::size_t k = 0; k < given.size(); ++k) {
    cells.cell.push_back(given[k].value_or(0));
    if (given[k]) continue;
    OpenMode& mode = cells.open.emplace_back();
    mode.mode = k;
    mode.columns = layout.size_of_mode(k).columns;
    mode.one_hot = layout.is_one_hot(layout.matrix(k));
    mode.ids.resize(layout.size_of_mode(k).rows);
    std::iota(mode.ids.begin(), mode.ids.end(), 0u);
  }
  Matrix<float> u;
  cells.layouts.reserve(draws.draws().size());  // rates refer to them
  for (std::size_t d = 0; d < draws.draws().size(); ++d) {
    OpenRates rates(cells.layouts.emplace_back(draws.layout(d)), draws.log_weights(d));
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!given[k]) continue;
      const std::size_t f = layout.matrix(k);
      if (layout.is_one_hot(f)) {
        rates = rates.given_own(k, *given[k]);
        continue;
      }
      draws.load_factor(d, f, u);
      rates.give(k, u.row(*given[k]));
    }
    cells.rates.push_back(std::move(rates));
  }
  return cells;
}

// The largest rates, at one draw, of cells that have a certain entity of an open mode: the other open modes have the
// largest values of their candidates, but for a one-hot mode, of which it is one entity or another.
class CandidateRates {
 public:
  CandidateRates(const std::vector<OpenMode>& open, std::size_t o, OpenRates rates,
                 const std::vector<std::vector<float>>& largest)
      : mode_(open[o]) {
    std::size_t own = open.size();
    for (std::size_t other = 0; other < open.size(); ++other) {
      if (other != o) rates.give(open[other].mode, largest[other].data());
      if (other != o && open[other].one_hot && !mode_.one_hot) own = other;
    }
    if (own < open.size())
      by_entity_ = rates.columns_by_entity(mode_.mode, open[own].mode);
    else
      columns_ = rates.columns(mode_.mode);
  }
  double of(std::size_t c, const Matrix<float>& u) const {
    if (mode_.one_hot) return columns_.of_own(mode_.ids[c]);
    const float* row = u.row(mode_.ids[c]);
    return by_entity_ ? by_entity_->largest(row) : columns_.of(row);
  }

 private:
  const OpenMode& mode_;
  ColumnRates columns_;
  std::optional<GroupedRates> by_entity_;  // where a one-hot mode is open, too
};

// One pass over the draws: for every candidate the upper bound over all cells that it can be part of.
std::vector<std::vector<double>> candidate_bounds(const OpenCells& cells, const DrawsFile& draws,
                                                  const FactorLayout& layout, Pool& pool) {
  const std::vector<OpenMode>& open = cells.open;
  std::vector<ChainAverage> average;
  for (const OpenMode& mode : open) average.emplace_back(*cells.chains, mode.ids.size());
  std::vector<Matrix<float>> u(open.size());
  std::vector<std::vector<float>> largest(open.size());
  for (std::size_t d = 0; d < cells.rates.size(); ++d) {
    for (std::size_t o = 0; o < open.size(); ++o) {
      if (!open[o].one_hot) draws.load_factor(d, layout.matrix(open[o].mode), u[o]);
      largest[o] = largest_values(open[o], u[o]);
    }
    for (std::size_t o = 0; o < open.size(); ++o) {
      const CandidateRates rates(open, o, cells.rates[d], largest);
      const Blocks blocks{open[o].ids.size(), 1024};
      pool.for_blocks(blocks.count(), [&](std::size_t b) {
        for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c)
          average[o].of_chain()[c] -= std::expm1(-rates.of(c, u[o]));
        average[o].end_of_draw(d, blocks.begin(b), blocks.end(b));
      });
    }
  }
  std::vector<std::vector<double>> bound(open.size());
  for (std::size_t o = 0; o < open.size(); ++o)
    for (std::size_t c = 0; c < open[o].ids.size(); ++c) bound[o].push_back(average[o].of(c));
  return bound;
}

// Drops candidates whose bound is below the threshold; true if that was worth another round.
bool prune(OpenCells& cells, const std::vector<std::vector<double>>& bound, double threshold) {
  bool shrunk = false;
  for (std::size_t o = 0; o < cells.open.size(); ++o) {
    std::vector<std::uint32_t>& ids = cells.open[o].ids;
    std::vector<std::uint32_t> kept;
    for (std::size_t c = 0; c < ids.size(); ++c)
      if (bound[o][c] * bound_slack >= threshold) kept.push_back(ids[c]);
    shrunk = shrunk || 10 * kept.size() < 9 * ids.size();
    ids = std::move(kept);
  }
  return shrunk;
}

// The rows of the remaining candidates in all draws.
void load_rows(OpenCells& cells, const DrawsFile& draws, const FactorLayout& layout) {
  Matrix<float> u;
  for (OpenMode& mode : cells.open) {
    const std::size_t P = mode.columns, D = cells.rates.size();
    if (!mode.one_hot) mode.rows.resize(mode.ids.size() * D * P);
    for (std::size_t d = 0; d < D; ++d) {
      if (!mode.one_hot) draws.load_factor(d, layout.matrix(mode.mode), u);
      for (std::size_t c = 0; !mode.one_hot && c < mode.ids.size(); ++c)
        std::copy_n(u.row(mode.ids[c]), P, mode.rows.data() + (c * D + d) * P);
      const std::vector<float> largest = largest_values(mode, u);
      mode.largest.insert(mode.largest.end(), largest.begin(), largest.end());
    }
  }
}

// Some promising cells: all combinations of each open mode's best-bounded candidates.
Buffer<std::uint32_t> beam(const OpenCells& all, const std::vector<std::vector<double>>& bound) {
  const std::vector<OpenMode>& open = all.open;
  const std::vector<std::uint32_t>& cell = all.cell;
  const double side = std::pow(static_cast<double>(beam_cells), 1 / static_cast<double>(open.size()));
  Buffer<std::uint32_t> cells;
  cells.append(cell.data(), cell.size());
  for (std::size_t o = 0; o < open.size(); ++o) {
    std::vector<std::size_t> order(open[o].ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t count = std::min(order.size(), static_cast<std::size_t>(side) + 1);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](std::size_t a, std::size_t b) { return bound[o][a] > bound[o][b]; });
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

// The score that `top` cells are known to reach: the top-th best of those that count, or nothing if there are too few.
double score_reached(const std::vector<double>& score, const Buffer<std::uint32_t>& cells, std::size_t order,
                     const std::function<bool(const std::uint32_t*)>& skip, std::size_t top) {
  std::vector<double> unseen;
  for (std::size_t i = 0; i < score.size(); ++i)
    if (!skip(cells.data() + i * order)) unseen.push_back(score[i]);
  if (unseen.size() < top) return 0;
  std::nth_element(unseen.begin(), unseen.begin() + static_cast<std::ptrdiff_t>(top - 1), unseen.end(),
                   std::greater<>());
  return unseen[top - 1];
}

void check_question(const std::vector<std::optional<std::uint32_t>>& given, const std::vector<Mode>& modes,
                    std::size_t top) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, "recommend: " + what); };
  if (given.size() != modes.size())
    refuse(fmt::format("{} modes are given or left open, but there are {}", given.size(), modes.size()));
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (given[k] && *given[k] >= modes[k].labels.size())
      refuse(
          fmt::format("the id {} of mode {}, which has {} entities", *given[k], modes[k].name, modes[k].labels.size()));
  if (top == 0) refuse("ask for at least one cell");
}

}  // namespace

std::vector<ScoredCell> Posterior::Impl::top_cells(const std::vector<std::optional<std::uint32_t>>& given,
                                                   std::size_t top, const Skip& skip) {
  OpenCells cells = open_cells(draws, layout, given);
  cells.chains = &chain_draws;
  double reached = 0;
  for (int round = 0; round < most_rounds && !cells.open.empty(); ++round) {
    const std::vector<std::vector<double>> bound = candidate_bounds(cells, draws, layout, pool);
    const Buffer<std::uint32_t> tried = beam(cells, bound);
    const std::vector<double> scores = combined_probabilities(tried.data(), tried.size() / modes.size());
    reached = std::max(reached, score_reached(scores, tried, modes.size(), skip, top));
    if (!prune(cells, bound, reached)) break;
  }
  double bytes = 0;
  for (const OpenMode& mode : cells.open)
    if (!mode.one_hot)
      bytes += static_cast<double>(mode.ids.size()) *
               static_cast<double>(draws.draws().size() * mode.columns * sizeof(float));
  if (bytes > most_row_bytes)
    throw Error(ErrorKind::config,
                fmt::format("too many cells are nearly as probable: the search would need {:.1f} GiB; "
                            "give another mode, or ask for fewer cells",
                            bytes / 0x1p30));
  load_rows(cells, draws, layout);
  return TopSearch(std::move(cells), top, pool).run(skip);
}

void Posterior::recommend(const std::vector<std::optional<std::uint32_t>>& given, std::size_t top,
                          const std::function<bool(const Recommendation&)>& yield) {
  impl_->require_rates("recommend");
  check_question(given, impl_->modes, top);
  const std::size_t order = impl_->modes.size();
  const SparseTensor ones = ones_matching(impl_->run_dir, impl_->info, given);
  const MissingSelfCells self(impl_->layout, impl_->info.options.self == SelfCells::missing);
  const std::vector<ScoredCell> found = impl_->top_cells(
      given, top, [&](const std::uint32_t* cell) { return self.contains(cell) || ones.contains(cell); });
  // In portions, so that memory stays bounded however many are asked for.
  for (std::size_t first = 0; first < found.size(); first += cells_explained) {
    const std::size_t count = std::min(cells_explained, found.size() - first);
    Buffer<std::uint32_t> coords;
    for (std::size_t e = 0; e < count; ++e) coords.append(found[first + e].cell.data(), order);
    const std::vector<Prediction> predictions = predict(coords.data(), count);
    const std::vector<std::vector<Recommendation::Part>> parts = explain(coords.data(), count);
    for (std::size_t e = 0; e < count; ++e)
      if (!yield({found[first + e].cell, predictions[e], parts[e]})) return;
  }
}

}  // namespace ztp
