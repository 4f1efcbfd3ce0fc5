#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "kernel/host_arrays.hpp"
#include "kernel/logits.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"
#include "store/run_info.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

constexpr std::size_t bytes_for_probabilities = std::size_t{256} << 20;
constexpr std::size_t cells_per_block = 4096;

// probability: of the cell. of_draws: its probabilities at the draws, which are sorted here.
Prediction summarise(double probability, float* of_draws, std::size_t draws, double rate) {
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
  result.rate = rate / static_cast<double>(draws);
  return result;
}

unsigned checked_threads(unsigned threads) {
  const double most = fit_option_field("threads").range.largest;
  if (threads > most) throw Error(ErrorKind::usage, fmt::format("{} threads: there can be up to {}", threads, most));
  return threads > 0 ? threads : available_cores();
}

// Where draws are scored: by the kernel, or on the host where logits are computed.
State make_scored_state(const DrawsFile& draws, bool rival, Kernel& kernel) {
  HostArrays host;
  return draws.make_state(rival ? static_cast<ArrayMaker&>(host) : kernel);
}

double checked_listed(double listed) {
  if (!(listed > 0 && listed <= 1))
    throw Error(
        ErrorKind::usage,
        fmt::format("listed {}: the part of the true ones that the data list is above 0 and at most 1", listed));
  return listed;
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

Posterior::Impl::Impl(const std::string& dir, unsigned threads, const PredictionOptions& prediction_options)
    : run_dir(dir),
      options{prediction_options.raw, checked_listed(prediction_options.listed), prediction_options.kernel},
      info(run_info(dir)),
      rival(is_rival(info.options)),
      layout(draw_layout(info).factors),
      modes(load_modes(dir, info)),
      pool(checked_threads(threads)),
      kernel(make_kernel(options.kernel == KernelName::automatic ? KernelName::cpu : options.kernel, pool)),
      draws(dir, info, pool.threads()),
      calibration(load_sample(dir, info, options.raw)),
      chain_draws(ChainDraws::of(
          draws.draws().size(), [&](std::size_t d) { return draws.draws()[d].chain; }, uses_map())),
      state(make_scored_state(draws, rival, *kernel)) {
  if (uses_map()) map_of_draw = draw_maps(*calibration->map, draws.draws().size(), info.options.seed);
}

const State& Posterior::Impl::draw(std::size_t i) {
  kept.resize(draws.draws().size());
  if (kept[i]) return *kept[i];
  std::size_t bytes = 0;
  for (const auto& matrix : state.factors) bytes += matrix->bytes();
  if (rival || bytes > kernel->room_for_draws()) {
    draws.load(i, state);
    return state;
  }
  auto loaded = std::make_unique<State>(draws.make_state(*kernel));
  draws.load(i, *loaded);
  kept[i] = std::move(loaded);
  return *kept[i];
}

void Posterior::Impl::prepare_for_cells(std::size_t cells, std::size_t of_draws) {
  constexpr double products_a_second = 1e9;
  // With a one-hot mode a cell has the components of its entity.
  const std::size_t one_hot = layout.one_hot_mode();
  const double groups = one_hot < layout.modes() ? static_cast<double>(layout.size_of_mode(one_hot).rows) : 1;
  prepare_for_seconds(static_cast<double>(cells) * static_cast<double>(of_draws) *
                      static_cast<double>(layout.components() * layout.modes()) / groups / products_a_second);
}

void Posterior::Impl::prepare_for_seconds(double seconds) {
  if (options.kernel != KernelName::automatic || rival) return;
  std::size_t bytes = 0;
  for (const auto& matrix : state.factors) bytes += matrix->bytes();
  std::unique_ptr<Kernel> device = make_device_kernel(seconds, pool.threads());
  if (!device) return;
  options.kernel = KernelName::cpu;  // it is asked for once: here it is, or it has no room
  if (bytes > device->room_for_draws()) return;
  state = draws.make_state(*device);
  kernel = std::move(device);
}

Posterior::Impl::Scorer::Scorer(Impl& impl, const std::uint32_t* coords, std::size_t count)
    : impl_(impl), coords_(coords), count_(count) {
  impl.prepare_for_cells(count, impl.draws.draws().size());
  if (!impl.rival) cells_ = impl.kernel->upload({.coords = coords, .count = count}, impl.layout);
}

void Posterior::Impl::Scorer::score(std::size_t i, double* z) {
  const State& drawn = impl_.draw(i);
  if (impl_.rival)
    logits(impl_.pool, recorded_model(drawn, impl_.draws.intercept(i)), coords_, count_, z);
  else
    impl_.kernel->score(*cells_, tensor_rates(drawn), z);
}

double Posterior::Impl::probability(double z) const {
  return rival ? logistic(z) : -std::expm1(-z);
}

void Posterior::Impl::check_cells(const std::uint32_t* coords, std::size_t count) const {
  const std::size_t order = modes.size();
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t k = 0; k < order; ++k)
      if (coords[e * order + k] >= modes[k].labels.size())
        throw Error(ErrorKind::usage, fmt::format("cell {} (from 0) has the id {} of mode {}, which has {} entities", e,
                                                  coords[e * order + k], modes[k].name, modes[k].labels.size()));
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
    throw Error(ErrorKind::config, fmt::format("{}: {} needs factors that are not negative, and --model {} has others",
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
  std::vector<double> z(count), result(count);
  ChainAverage average(chain_draws, count);
  Scorer scorer(*this, coords, count);
  const Blocks blocks{count, cells_per_block};
  for (std::size_t i = 0; i < draws.draws().size(); ++i) {
    scorer.score(i, z.data());
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) average.of_chain()[e] += probability(z[e]);
      average.end_of_draw(i, blocks.begin(b), blocks.end(b));
    });
  }
  for (std::size_t e = 0; e < count; ++e) result[e] = average.of(e);
  return result;
}

void Posterior::Impl::predict(const std::uint32_t* coords, std::size_t count, Prediction* result) {
  const std::size_t D = draws.draws().size();
  Buffer<float> of_draws(count * D);  // probabilities, draw by draw
  std::vector<double> z(count), rate(count, 0.0);
  ChainAverage average(chain_draws, count);
  Scorer scorer(*this, coords, count);
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
  if (impl_->options.raw) return "Probabilities are the posterior's own, not calibrated, as asked for.";
  if (impl_->uses_map()) return fmt::format("Probabilities are calibrated with {} held-out ones.", run.test_ones);
  if (impl_->rival) return "Probabilities of a rival are not calibrated.";
  if (run.test_ones + run.test_zeros == 0) return "Probabilities are not calibrated: no cells were held out.";
  if (run.test_ones < ones_for_calibration)
    return fmt::format("Probabilities are not calibrated: that takes {} held-out ones, and there are {}.",
                       ones_for_calibration, run.test_ones);
  if (run.test_zeros == 0) return "Probabilities are not calibrated: no zeros were held out.";
  return impl_->calibration ? "Probabilities are not calibrated: the held-out cells do not determine a map."
                            : "Probabilities are not calibrated: the run was made without.";
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
  return std::max<std::size_t>(1, bytes_for_probabilities / 4 / std::max<std::size_t>(draws(), 1));
}

std::vector<Prediction> Posterior::predict(const std::uint32_t* coords, std::size_t count) {
  impl_->check_cells(coords, count);
  const std::size_t order = impl_->modes.size(), most = cells_at_a_time();
  std::vector<Prediction> result(count);
  for (std::size_t first = 0; first < count; first += most)
    impl_->predict(coords + first * order, std::min(most, count - first), result.data() + first);
  return result;
}

void Posterior::predict_file(
    const std::string& file,
    const std::function<void(const std::uint32_t* coords, const Prediction*, std::size_t)>& yield) {
  TableSpec spec = cell_table(file, impl_->modes);
  spec.optional_value = true;
  TableReader reader(spec, impl_->pool);
  const std::size_t order = impl_->modes.size();
  Buffer<std::uint32_t> coords;
  const auto flush = [&] {
    const std::vector<Prediction> predictions = predict(coords.data(), coords.size() / order);
    yield(coords.data(), predictions.data(), predictions.size());
    coords.resize(0);
  };
  CellBlock block;
  while (reader.next(block)) {
    if (!coords.empty() && coords.size() + block.coords.size() > cells_at_a_time() * order) flush();
    coords.append(block.coords.data(), block.coords.size());
  }
  if (!coords.empty()) flush();
}

}  // namespace ztp
