#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "kernel/logits.hpp"
#include "options/options.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"
#include "store/run_info.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

constexpr double most_for_probabilities = 256 << 20;
constexpr std::size_t cells_per_block = 4096;

unsigned checked_threads(unsigned threads) {
  const double most = fit_option_field("threads").range.largest;
  if (threads > most) throw Error(ErrorKind::usage, fmt::format("{} threads: at most {} are allowed", threads, most));
  return threads > 0 ? threads : available_cores();
}

PredictionOptions checked(const PredictionOptions& options) {
  if (!(options.listed > 0 && options.listed <= 1))
    throw Error(ErrorKind::usage,
                fmt::format("listed {}: the share of the true ones that the data list must be above 0 and at most 1",
                            options.listed));
  if (!options.memory.empty()) memory_limit(options.memory);
  return options;
}

// Raw probabilities do without it, if it is damaged.
std::optional<RunCalibration> load_sample(const std::string& run_dir, const RunInfo& info, bool raw) {
  try {
    return load_calibration(run_dir, info);
  } catch (const Error&) {
    if (raw) return std::nullopt;
    throw;
  }
}

// A map for each draw, from the normal distribution of its estimates: what is not known of the map is in the intervals.
std::vector<CalibrationMap> draw_maps(const CalibrationMap& map, std::size_t draws, std::uint64_t seed) {
  std::vector<CalibrationMap> maps;
  for (std::size_t d = 0; d < draws; ++d) {
    Stream stream(stream_key(seed, 0, Purpose::map_uncertainty), 0, d);
    maps.push_back(draw_map(map, [&] {
      const double radius = std::sqrt(-2 * std::log(stream.uniform()));
      return radius * std::cos(2 * M_PI * stream.uniform());
    }));
  }
  return maps;
}

}  // namespace

Prediction summarise(double probability, float* of_draws, std::size_t draws, double rates) {
  Prediction result;
  result.probability = probability;
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < draws; ++i) mean += static_cast<double>(of_draws[i]) / static_cast<double>(draws);
  for (std::size_t i = 0; i < draws; ++i) {
    const double difference = static_cast<double>(of_draws[i]) - mean;
    squares += difference * difference;
  }
  result.sd = draws > 1 ? std::sqrt(squares / static_cast<double>(draws - 1)) : 0;
  std::sort(of_draws, of_draws + draws);
  result.q05 = quantile(of_draws, draws, 0.05);
  result.q95 = quantile(of_draws, draws, 0.95);
  result.rate = rates / static_cast<double>(draws);
  return result;
}

Posterior::Impl::Impl(const std::string& dir, unsigned threads, const PredictionOptions& prediction_options)
    : run_dir(dir),
      options(checked(prediction_options)),
      info(run_info(dir)),
      rival(is_rival(info.options)),
      layout(draw_layout(info).factors),
      modes(load_modes(dir, info)),
      pool(checked_threads(threads)),
      kernel(make_kernel(options.kernel == KernelName::automatic ? KernelName::cpu : options.kernel, pool)),
      draws(dir, info, pool.threads()),
      calibration(load_sample(dir, info, options.raw)),
      chain_draws(ChainDraws::of(
          draws.draws().size(), [&](std::size_t d) { return draws.draws()[d].chain; }, uses_map())) {
  bytes_for_probabilities = static_cast<std::size_t>(std::min(most_for_probabilities, room() / 2));
  if (uses_map()) map_of_draw = draw_maps(*calibration->map, draws.draws().size(), info.options.seed);
}

double Posterior::Impl::probability(double z) const {
  return rival ? logistic(z) : -std::expm1(-z);
}

void Posterior::Impl::check_cells(const std::uint32_t* coords, std::size_t count, bool unseen) const {
  const std::size_t order = modes.size();
  for (std::size_t k = 0; k < order; ++k) {
    const bool may_be_unseen = unseen && !rival && !layout.is_one_hot(layout.matrix(k));
    const std::size_t largest = modes[k].labels.size() - (may_be_unseen ? 0 : 1);
    for (std::size_t e = 0; e < count; ++e)
      if (coords[e * order + k] > largest)
        throw Error(ErrorKind::usage, fmt::format("cell {} (from 0) has the id {} of mode {}, which has {} entities", e,
                                                  coords[e * order + k], modes[k].name, modes[k].labels.size()));
  }
}

void Posterior::Impl::check_cells(const TestCells& cells) const {
  if (cells.coords.size() != cells.size() * modes.size())
    throw Error(ErrorKind::usage,
                fmt::format("{} outcomes and {} ids: {} ids are needed, of {} modes for each cell", cells.size(),
                            cells.coords.size(), cells.size() * modes.size(), modes.size()));
  check_cells(cells.coords.data(), cells.size());
}

void Posterior::Impl::require_rates(const char* what) const {
  if (rival)
    throw Error(ErrorKind::config,
                fmt::format("{}: {} does not work with --model {}, whose factors can be negative; fit without --model",
                            run_dir, what, name_of(info.options.model)));
}

void Posterior::Impl::require_components(const char* what, const char* instead) const {
  require_rates(what);
  if (!layout.columns_are_components())
    throw Error(ErrorKind::config, fmt::format("{}: {} is for runs whose components have columns of their own; this "
                                               "one was fitted with --columns, and {}",
                                               run_dir, what, instead));
}

void Posterior::Impl::require_shared_columns(const char* what) const {
  require_rates(what);
  if (layout.columns_are_components())
    throw Error(ErrorKind::config,
                fmt::format("{}: {} is for runs with --columns; in this one, components have columns "
                            "of their own",
                            run_dir, what));
}

void Posterior::Impl::require_mode(const char* what, std::size_t mode) const {
  if (mode >= modes.size()) throw Error(ErrorKind::usage, fmt::format("{}: there is no mode {} (from 0)", what, mode));
}

double Posterior::Impl::not_listed(double p) const {
  return options.listed < 1 ? std::min(1.0, p * (1 - options.listed) / (options.listed * (1 - p))) : p;
}

double Posterior::Impl::calibrated(double combined) const {
  return not_listed(uses_map() ? (*calibration->map)(combined) : combined);
}

std::vector<double> Posterior::Impl::combined_probabilities(const std::uint32_t* coords, std::size_t count) {
  std::vector<double> result(count);
  for_scorers(coords, count, [&](Scorer& scorer, std::size_t first) {
    std::vector<double> z(scorer.cells());
    ChainAverage average(chain_draws, z.size());
    const Blocks blocks{z.size(), cells_per_block};
    for (std::size_t i = 0; i < draws.draws().size(); ++i) {
      scorer.score(i, z.data());
      pool.for_blocks(blocks.count(), [&](std::size_t b) {
        for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) average.of_chain()[e] += probability(z[e]);
        average.end_of_draw(i, blocks.begin(b), blocks.end(b));
      });
    }
    for (std::size_t e = 0; e < z.size(); ++e) result[first + e] = average.of(e);
  });
  return result;
}

void Posterior::Impl::predict(Scorer& scorer, Prediction* result) {
  const std::size_t D = draws.draws().size(), count = scorer.cells();
  Buffer<float> of_draws(count * D);  // probabilities, draw by draw
  std::vector<double> z(count), rate(count, 0.0);
  ChainAverage average(chain_draws, count);
  const Blocks blocks{count, cells_per_block};
  for (std::size_t i = 0; i < D; ++i) {
    scorer.score(i, z.data());
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
        const double p = probability(z[e]);
        average.of_chain()[e] += p;
        of_draws[i * count + e] = static_cast<float>(not_listed(uses_map() ? map_of_draw[i](p) : p));
        rate[e] += z[e];
      }
      average.end_of_draw(i, blocks.begin(b), blocks.end(b));
    });
  }
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::vector<float> of_cell(D);
    for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
      for (std::size_t i = 0; i < D; ++i) of_cell[i] = of_draws[i * count + e];
      result[e] = summarise(calibrated(average.of(e)), of_cell.data(), D, rate[e]);
    }
  });
}

Posterior::Posterior(const std::string& run_dir, unsigned threads, const PredictionOptions& options)
    : impl_(std::make_unique<Impl>(run_dir, threads, options)) {}
Posterior::~Posterior() = default;
Posterior::Posterior(Posterior&&) noexcept = default;
Posterior& Posterior::operator=(Posterior&&) noexcept = default;
std::string Posterior::calibration_words() const {
  const RunInfo& run = impl_->info;
  if (impl_->options.raw) return "Probabilities are the posterior's own, not calibrated, as requested.";
  if (impl_->uses_map()) return fmt::format("Probabilities are calibrated with {} held-out ones.", run.test_ones);
  if (impl_->rival) return "Probabilities of a rival are not calibrated.";
  if (run.test_ones + run.test_zeros == 0) return "Probabilities are not calibrated: no cells were held out.";
  if (run.test_ones < ones_for_calibration)
    return fmt::format("Probabilities are not calibrated: that needs {} held-out ones, and there are {}.",
                       ones_for_calibration, run.test_ones);
  if (run.test_zeros == 0) return "Probabilities are not calibrated: no zeros were held out.";
  return impl_->calibration ? "Probabilities are not calibrated: the held-out cells do not determine a calibration map."
                            : "Probabilities are not calibrated: the run has no calibration map.";
}

const RunInfo& Posterior::info() const {
  return impl_->info;
}
const std::vector<Mode>& Posterior::modes() const {
  return impl_->modes;
}
std::size_t Posterior::draws() const {
  return impl_->draws.draws().size();
}
std::size_t Posterior::cells_at_a_time() const {
  return std::max<std::size_t>(1, impl_->bytes_for_probabilities / 4 / std::max<std::size_t>(draws(), 1));
}

std::vector<Prediction> Posterior::predict(const std::uint32_t* coords, std::size_t count, bool unseen) {
  impl_->check_cells(coords, count, unseen);
  const std::size_t order = impl_->modes.size(), most = cells_at_a_time();
  std::vector<Prediction> result(count);
  for (std::size_t first = 0; first < count; first += most)
    impl_->for_scorers(
        coords + first * order, std::min(most, count - first),
        [&](Impl::Scorer& scorer, std::size_t begin) { impl_->predict(scorer, result.data() + first + begin); });
  return result;
}

}  // namespace ztp
