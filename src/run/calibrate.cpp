#include "run/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "evaluate/chain_average.hpp"
#include "evaluate/test_design.hpp"
#include "io/dataset_ones.hpp"
#include "kernel/kernel.hpp"
#include "model/rates.hpp"
#include "model/self_cells.hpp"
#include "store/calibration_file.hpp"
#include "store/draws_file.hpp"
#include "tensor/missing.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

constexpr std::size_t draws_to_draw_from = 64;
constexpr std::size_t fewest_drawn = 50'000, most_drawn = 400'000;  // most are training ones, and dropped
constexpr std::size_t cells_per_block = 4096;

// Positions in a cumulative sum: a place for each of `count` points.
class Places {
 public:
  template <class Value>
  Places(std::size_t size, const Value& value) : cumulative_(size) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) cumulative_[i] = sum += value(i);
  }
  std::uint32_t draw(Stream& stream) const {
    const double point = stream.uniform() * cumulative_.back();
    const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end(), point);
    return static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(at - cumulative_.begin(), std::ssize(cumulative_) - 1));
  }

 private:
  std::vector<double> cumulative_;
};

// Cells drawn from one draw, each with a probability in proportion to its rate: a component by its weight, then an
// entity of each mode by its column.
void draw_by_rate(const DrawsFile& draws, std::size_t d, std::size_t count, std::uint64_t seed,
                  Buffer<std::uint32_t>& cells) {
  const FactorLayout layout = draws.layout(d);
  const std::vector<double> log_weight = draws.log_weights(d);
  const std::size_t K = layout.modes();
  Stream stream(stream_key(seed, 0, Purpose::calibration), 0, d);
  const Places components(log_weight.size(), [&](std::size_t r) { return std::exp(log_weight[r]); });
  std::vector<std::uint32_t> component(count);
  for (std::uint32_t& r : component) r = components.draw(stream);
  std::sort(component.begin(), component.end());
  const std::size_t first = cells.size();
  cells.resize(first + count * K);
  Matrix<float> u;
  for (std::size_t k = 0; k < K; ++k) {
    const bool one_hot = layout.is_one_hot(layout.matrix(k));
    if (!one_hot) draws.load_factor(d, layout.matrix(k), u);
    for (std::size_t i = 0; i < count;) {
      const std::size_t r = component[i], q = layout.column(k, r);
      const Places entities(one_hot ? 1 : u.rows(),
                            [&](std::size_t j) { return one_hot ? 1.0 : static_cast<double>(u.row(j)[q]); });
      for (; i < count && component[i] == r; ++i)
        cells[first + i * K + k] = one_hot ? static_cast<std::uint32_t>(q) : entities.draw(stream);
    }
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
                              run.info.options.self == SelfCells::missing);
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
  State state = draws.make_state(*kernel);
  ChainAverage average(chains, count);
  Scores scores{std::vector<double>(count), std::vector<double>(count, 0.0)};
  std::vector<double> z(count);
  const Blocks blocks{count, cells_per_block};
  for (std::size_t d = 0; d < draws.draws().size(); ++d) {
    draws.load(d, state);
    kernel->score(coords.data(), count, tensor_rates(state), z.data());
    const bool chosen = std::binary_search(drawn_from.begin(), drawn_from.end(), d);
    double total = 0;
    for (const double log_weight : state.tensor.log_weight) total += std::exp(log_weight);
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
        average.of_chain()[e] -= std::expm1(-z[e]);
        if (chosen) scores.density[e] += z[e] / total / static_cast<double>(drawn_from.size());
      }
      average.end_of_draw(d, blocks.begin(b), blocks.end(b));
    });
  }
  for (std::size_t e = 0; e < count; ++e) scores.logit[e] = logit_of(average.of(e));
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
