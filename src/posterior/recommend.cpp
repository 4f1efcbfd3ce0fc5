#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

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

// Of each column, over these rows.
std::vector<float> largest_values(const Matrix<float>& u, const std::vector<std::uint32_t>& ids) {
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
    mode.ids.resize(layout.size_of_mode(k).rows);
    std::iota(mode.ids.begin(), mode.ids.end(), 0u);
  }
  Matrix<float> u;
  for (std::size_t d = 0; d < draws.draws().size(); ++d) {
    OpenRates& rates = cells.rates.emplace_back(layout, draws.log_weights(d));
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!given[k]) continue;
      draws.load_factor(d, layout.matrix(k), u);
      rates.give(k, u.row(*given[k]));
    }
  }
  return cells;
}

// One pass over the draws: for every candidate the upper bound over all cells that it can be part of.
std::vector<std::vector<double>> candidate_bounds(const OpenCells& cells, const DrawsFile& draws,
                                                  const FactorLayout& layout, Pool& pool) {
  const std::vector<OpenMode>& open = cells.open;
  std::vector<std::vector<double>> bound;
  for (const OpenMode& mode : open) bound.emplace_back(mode.ids.size(), 0.0);
  std::vector<Matrix<float>> u(open.size());
  std::vector<std::vector<float>> largest(open.size());
  for (std::size_t d = 0; d < cells.rates.size(); ++d) {
    for (std::size_t o = 0; o < open.size(); ++o) {
      draws.load_factor(d, layout.matrix(open[o].mode), u[o]);
      largest[o] = largest_values(u[o], open[o].ids);
    }
    for (std::size_t o = 0; o < open.size(); ++o) {
      OpenRates rates = cells.rates[d];
      for (std::size_t other = 0; other < open.size(); ++other)
        if (other != o) rates.give(open[other].mode, largest[other].data());
      const ColumnRates columns = rates.columns(open[o].mode);
      const Blocks blocks{open[o].ids.size(), 1024};
      pool.for_blocks(blocks.count(), [&](std::size_t b) {
        for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c)
          bound[o][c] -= std::expm1(-columns.of(u[o].row(open[o].ids[c]))) / static_cast<double>(cells.rates.size());
      });
    }
  }
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
    mode.rows.resize(mode.ids.size() * D * P);
    for (std::size_t d = 0; d < D; ++d) {
      draws.load_factor(d, layout.matrix(mode.mode), u);
      for (std::size_t c = 0; c < mode.ids.size(); ++c)
        std::copy_n(u.row(mode.ids[c]), P, mode.rows.data() + (c * D + d) * P);
      const std::vector<float> largest = largest_values(u, mode.ids);
      mode.largest.insert(mode.largest.end(), largest.begin(), largest.end());
    }
  }
}

// Some promising cells: all combinations of each open mode's best-bounded candidates.
Buffer<std::uint32_t> beam(const OpenCells& all, const std::vector<std::vector<double>>& bound) {
  const auto& [open, rates, cell] = all;
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

// The score that `top` cells are known to reach: the top-th best of some unseen cells, or nothing if there are too few.
double score_reached(const std::vector<double>& score, const Buffer<std::uint32_t>& cells, const SparseTensor& ones,
                     std::size_t top) {
  std::vector<double> unseen;
  for (std::size_t i = 0; i < score.size(); ++i)
    if (!ones.contains(cells.data() + i * ones.order())) unseen.push_back(score[i]);
  if (unseen.size() < top) return 0;
  std::nth_element(unseen.begin(), unseen.begin() + static_cast<std::ptrdiff_t>(top - 1), unseen.end(),
                   std::greater<>());
  return unseen[top - 1];
}

// Components with at least a hundredth of the rate, largest first.
std::vector<Recommendation::Part> largest_parts(const double* rate, std::size_t R) {
  double total = 0;
  for (std::size_t r = 0; r < R; ++r) total += rate[r];
  std::vector<Recommendation::Part> parts;
  for (std::size_t r = 0; r < R; ++r)
    if (rate[r] > 0.01 * total) parts.push_back({r + 1, rate[r] / total});
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return parts;
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

void Posterior::recommend(const std::vector<std::optional<std::uint32_t>>& given, std::size_t top,
                          const std::function<bool(const Recommendation&)>& yield) {
  impl_->require_components("recommend");
  check_question(given, impl_->modes, top);
  const std::size_t order = impl_->modes.size();
  const SparseTensor ones = ones_matching(impl_->run_dir, impl_->info, given);
  OpenCells cells = open_cells(impl_->draws, impl_->layout, given);
  double reached = 0;
  for (int round = 0; round < most_rounds && !cells.open.empty(); ++round) {
    const std::vector<std::vector<double>> bound = candidate_bounds(cells, impl_->draws, impl_->layout, impl_->pool);
    const Buffer<std::uint32_t> tried = beam(cells, bound);
    reached = std::max(reached,
                       score_reached(impl_->mean_probabilities(tried.data(), tried.size() / order), tried, ones, top));
    if (!prune(cells, bound, reached)) break;
  }
  double bytes = 0;
  for (const OpenMode& mode : cells.open)
    bytes += static_cast<double>(mode.ids.size()) * static_cast<double>(draws() * mode.columns * sizeof(float));
  if (bytes > most_row_bytes)
    throw Error(ErrorKind::config,
                fmt::format("too many cells are nearly as probable: the search would need {:.1f} GiB; "
                            "give another mode, or ask for fewer cells",
                            bytes / 0x1p30));
  load_rows(cells, impl_->draws, impl_->layout);
  TopSearch search(std::move(cells), top, impl_->pool);
  const std::vector<ScoredCell> found =
      search.run([&](const std::uint32_t* candidate) { return ones.contains(candidate); });
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

std::vector<std::vector<Recommendation::Part>> Posterior::explain(const std::uint32_t* coords, std::size_t count) {
  impl_->require_components("explain");
  impl_->check_cells(coords, count);
  const std::size_t R = impl_->layout.components();
  Buffer<double> sum(count * R), parts(count * R);  // of the rate that each component has, over the draws and of one
  std::fill(sum.begin(), sum.end(), 0.0);
  for (const std::size_t i : impl_->draws_of(chains().front())) {
    impl_->draws.load(i, impl_->state);
    impl_->kernel->score_parts(coords, count, tensor_rates(impl_->state), parts.data());
    for (std::size_t x = 0; x < sum.size(); ++x) sum[x] += parts[x];
  }
  std::vector<std::vector<Recommendation::Part>> result(count);
  for (std::size_t e = 0; e < count; ++e) result[e] = largest_parts(sum.data() + e * R, R);
  return result;
}

}  // namespace ztp
