#include "run/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/memory.hpp"
#include "base/random.hpp"
#include "evaluate/chain_average.hpp"
#include "evaluate/test_design.hpp"
#include "io/dataset_ones.hpp"
#include "kernel/kernel.hpp"
#include "model/rates.hpp"
#include "model/self_cells.hpp"
#include "run/cost.hpp"
#include "store/calibration_file.hpp"
#include "store/draw_rows.hpp"
#include "tensor/missing.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

constexpr std::size_t draws_to_draw_from = 64;
constexpr std::size_t fewest_drawn = 50'000, most_drawn = 400'000;  // most are training ones, and dropped
constexpr std::size_t cells_per_block = 4096;

// Points in the cumulative sums of columns, each to be found at its place: the first row whose sum is above it.
class ColumnPoints {
 public:
  // of_points: the column of each point.
  explicit ColumnPoints(std::vector<std::size_t> of_points) : of_points_(std::move(of_points)) {
    columns_ = of_points_;
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    totals_.assign(columns_.size(), 0.0);
  }
  // Two passes over the rows: read(use) calls use(rows, values) for one block of them after another, of P columns.
  // parts: where the points are, in parts of the sums of their columns. found(i, row) tells the place of point i.
  template <class Read, class Found>
  void find(const Read& read, std::size_t rows, std::size_t P, const std::vector<double>& parts, const Found& found) {
    read([&](Range block, const float* values) {
      for (std::size_t j = block.begin; j < block.end; ++j, values += P)
        for (std::size_t q = 0; q < columns_.size(); ++q) totals_[q] += static_cast<double>(values[columns_[q]]);
    });
    std::vector<std::vector<std::pair<double, std::size_t>>> waiting(columns_.size());  // the next one last
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto q = static_cast<std::size_t>(std::lower_bound(columns_.begin(), columns_.end(), of_points_[i]) -
                                              columns_.begin());
      waiting[q].emplace_back(parts[i] * totals_[q], i);
    }
    for (auto& points : waiting) std::sort(points.begin(), points.end(), std::greater<>());
    std::vector<double> sums(columns_.size(), 0.0);
    read([&](Range block, const float* values) {
      for (std::size_t j = block.begin; j < block.end; ++j, values += P)
        for (std::size_t q = 0; q < columns_.size(); ++q) {
          sums[q] += static_cast<double>(values[columns_[q]]);
          auto& points = waiting[q];
          for (; !points.empty() && (points.back().first < sums[q] || j + 1 == rows); points.pop_back())
            found(points.back().second, static_cast<std::uint32_t>(j));
        }
    });
  }

 private:
  std::vector<std::size_t> of_points_, columns_;
  std::vector<double> totals_;
};

// Cells drawn from one draw, each with a probability in proportion to its rate: a component by its weight, then an
// entity of each mode by its column.
void draw_by_rate(const DrawsFile& draws, std::size_t d, std::size_t count, std::uint64_t seed,
                  Buffer<std::uint32_t>& cells) {
  const FactorLayout layout = draws.layout(d);
  const std::vector<double> log_weight = draws.log_weights(d);
  const std::size_t K = layout.modes();
  Stream stream(stream_key(seed, 0, Purpose::calibration), 0, d);
  std::vector<double> cumulative;
  for (const double value : log_weight)
    cumulative.push_back((cumulative.empty() ? 0 : cumulative.back()) + std::exp(value));
  std::vector<std::size_t> component(count);
  for (std::size_t& r : component) {
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), stream.uniform() * cumulative.back());
    r = static_cast<std::size_t>(std::min<std::ptrdiff_t>(at - cumulative.begin(), std::ssize(cumulative) - 1));
  }
  std::sort(component.begin(), component.end());
  const std::size_t first = cells.size();
  cells.resize(first + count * K);
  std::vector<double> parts(count);
  for (std::size_t k = 0; k < K; ++k) {
    const std::size_t f = layout.matrix(k);
    std::vector<std::size_t> column;
    for (const std::size_t r : component) column.push_back(layout.column(k, r));
    if (layout.is_one_hot(f)) {
      for (std::size_t i = 0; i < count; ++i) cells[first + i * K + k] = static_cast<std::uint32_t>(column[i]);
      continue;
    }
    for (double& part : parts) part = stream.uniform();
    ColumnPoints(std::move(column))
        .find([&](const auto& use) { draws.read_factor(d, f, use); }, layout.size(f).rows, layout.size(f).columns,
              parts, [&](std::size_t i, std::uint32_t row) { cells[first + i * K + k] = row; });
  }
}

// Which of the drawn cells may stand for zeros: neither training ones nor held-out ones, and observed.
std::vector<std::uint8_t> usable_cells(const OpenRun& run, const Buffer<std::uint32_t>& cells, Pool& pool) {
  const std::size_t K = run.data.tensor.order(), count = cells.size() / K;
  Buffer<std::uint32_t> sorted, tested_ones, tested_zeros;
  sorted.append(cells.data(), cells.size());
  sort_and_merge_records(sorted, K);
  const std::vector<std::uint8_t> training = which_are_ones(run.data, sorted, pool);
  for (std::size_t e = 0; e < run.test.size(); ++e)
    (run.test.outcome[e] != 0 ? tested_ones : tested_zeros).append(run.test.coords.data() + e * K, K);
  for (Buffer<std::uint32_t>* list : {&tested_ones, &tested_zeros}) sort_and_merge_records(*list, K);
  const auto among = [&](const Buffer<std::uint32_t>& list, const std::uint32_t* cell) {
    return find_record(list, K, cell) < list.size() / K;
  };
  const MissingSelfCells self(layout_of(run.info.options, sizes_of_modes(run.data)),
                              run.info.options.self_cells == SelfCells::missing);
  std::vector<std::uint8_t> usable(count);
  for (std::size_t e = 0; e < count; ++e) {
    const std::uint32_t* cell = cells.data() + e * K;
    usable[e] = training[find_record(std::as_const(sorted), K, cell)] == 0 && !among(tested_ones, cell) &&
                !self.contains(cell) && !in_missing_slice(run.data.missing, cell) &&
                (!among(run.data.missing.cells, cell) || among(tested_zeros, cell));
  }
  return usable;
}

// What a pass over the draws tells of the sample.
struct Scores {
  std::vector<double> logit;    // of the combined probability
  std::vector<double> density;  // the chance of a cell to be a point drawn by rate
};

Scores score(const DrawsFile& draws, const std::vector<std::size_t>& drawn_from, const ChainDraws& chains,
             const RunInfo& info, const Buffer<std::uint32_t>& coords, std::size_t count, Pool& pool) {
  const std::unique_ptr<Kernel> kernel = make_kernel(info.options.kernel, pool);
  Scores scores{std::vector<double>(count), std::vector<double>(count, 0.0)};
  const std::size_t K = draws.factors().modes();
  for (std::size_t first = 0, cells; first < count; first += cells) {
    const DrawRows rows(draws, coords.data() + first * K, count - first, room_within(allowed_memory(info.options)));
    State state = rows.make_state(*kernel);
    cells = rows.cells();
    std::vector<double> z(cells);
    ChainAverage average(chains, cells);
    const Blocks blocks{cells, cells_per_block};
    for (std::size_t d = 0; d < draws.draws().size(); ++d) {
      rows.load(d, state);
      kernel->score(rows.coords(), cells, tensor_rates(state), z.data());
      const bool chosen = std::binary_search(drawn_from.begin(), drawn_from.end(), d);
      double total = 0;
      for (const double log_weight : state.tensor.log_weight) total += std::exp(log_weight);
      pool.for_blocks(blocks.count(), [&](std::size_t b) {
        for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
          average.of_chain()[e] -= std::expm1(-z[e]);
          if (chosen) scores.density[first + e] += z[e] / total / static_cast<double>(drawn_from.size());
        }
        average.end_of_draw(d, blocks.begin(b), blocks.end(b));
      });
    }
    for (std::size_t e = 0; e < cells; ++e) scores.logit[first + e] = logit_of(average.of(e));
  }
  return scores;
}

template <class T>
std::span<const T> values(const Buffer<T>& buffer) {
  return {buffer.data(), buffer.size()};
}

double auc_of_test(const std::vector<double>& logits, const RunCalibration& calibration) {
  if (!calibration.map) return std::numeric_limits<double>::quiet_NaN();
  MetricsCollector collector;
  for (std::size_t e = 0; e < calibration.tested; ++e)
    collector.add(calibration.of_fold[calibration.fold[e]](probability_of_logit(logits[e])),
                  calibration.outcome[e] != 0);
  return collector.finish().auc_roc;
}

}  // namespace

double calibrate_run(const OpenRun& run) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const RunInfo& info = run.info;
  remove_calibration(run.dir);
  const std::uint64_t ones = info.test_ones, zeros = info.test_zeros;
  const TestDesign design = design_of(info, true, ones, zeros);
  if (ones == 0 || is_rival(info.options) || design.zeros == TestDesign::Zeros::none) return none;
  const std::size_t K = run.data.tensor.order();
  Pool pool(static_cast<unsigned>(info.options.threads));
  const DrawsFile draws(run.dir, info, pool.threads());
  const std::size_t D = draws.draws().size();
  std::vector<std::size_t> drawn_from;
  for (std::size_t i = 0; i < std::min(D, draws_to_draw_from); ++i)
    drawn_from.push_back(i * D / std::min(D, draws_to_draw_from));
  const std::size_t of_each = std::clamp(4 * run.test.size(), fewest_drawn, most_drawn) / drawn_from.size();
  Buffer<std::uint32_t> drawn;
  for (const std::size_t d : drawn_from) draw_by_rate(draws, d, of_each, info.options.seed, drawn);
  const double points = static_cast<double>(of_each * drawn_from.size());

  RunCalibration calibration;
  calibration.tested = run.test.size();
  calibration.coords.append(run.test.coords.data(), run.test.coords.size());
  calibration.outcome.append(run.test.outcome.data(), run.test.outcome.size());
  const std::vector<std::uint8_t> usable = usable_cells(run, drawn, pool);
  for (std::size_t e = 0; e < usable.size(); ++e)
    if (usable[e] != 0) {
      calibration.coords.append(drawn.data() + e * K, K);
      calibration.outcome.push_back(0);
    }
  const ChainDraws chains = ChainDraws::of(
      D, [&](std::size_t d) { return draws.draws()[d].chain; }, true);
  const Scores scores = score(draws, drawn_from, chains, info, calibration.coords, calibration.size(), pool);
  const StreamKey folds = stream_key(info.options.seed, 0, Purpose::calibration, 1);
  for (std::size_t e = 0; e < calibration.size(); ++e) {
    const double chance = points * scores.density[e] + static_cast<double>(zeros) / design.all_zeros;
    calibration.weight.push_back(calibration.outcome[e] != 0 ? 1 : design.part_of_ones / chance);
    calibration.fold.push_back(static_cast<std::uint8_t>(Stream(folds, 0, e).below(calibration_folds)));
  }
  if (ones >= ones_for_calibration)
    if (auto fitted = cross_fit(scores.logit, values(calibration.outcome), values(calibration.weight),
                                values(calibration.fold), calibration_folds)) {
      calibration.map = fitted->map;
      calibration.of_fold = std::move(fitted->of_fold);
    }
  store_calibration(run.dir, calibration);
  return auc_of_test(scores.logit, calibration);
}

}  // namespace ztp
