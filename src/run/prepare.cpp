#include "run/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "base/pool.hpp"
#include "io/dataset_ones.hpp"
#include "io/flags.hpp"
#include "kernel/bounded_draw.hpp"
#include "options/options.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t most_watched_sweeps = 2000;   // of each chain: enough to judge it, and cells.tsv stays small
constexpr std::int64_t most_units_collapsed = 50000;  // by default: above, the moves cost more than they gain
constexpr std::int64_t most_units_moved = std::int64_t{1} << 28;  // two gigabytes, and minutes a sweep
constexpr std::int64_t many_ones = 10000000;                      // for these two see complete_sampler
constexpr std::int64_t few_ones_in_minibatch = 50000;
constexpr std::uint64_t most_draw_bytes = std::uint64_t{4} << 30;

// All cores, but where there is little to do threads would wait for each other more than they work: with 1,000 ones two
// are slower than one, with 3,000 they are faster.
constexpr std::uint64_t ones_for_a_thread = 2000;

std::int64_t useful_threads(const Dataset& data) {
  std::uint64_t entries = data.ones();
  for (const Network& network : data.networks) entries += network.size();
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(entries / ones_for_a_thread, 1, available_cores()));
}

double dirichlet_value(const std::string& item, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 1e-6 && value <= 1e9))
    throw Error(ErrorKind::config, fmt::format("--dirichlet {}: must be a number between 1e-6 and 1e9", item));
  return value;
}

// One value for each mode: its own, or else that of all modes.
std::vector<double> dirichlet_of_modes(const std::vector<std::string>& items, const std::vector<Mode>& modes) {
  std::vector<std::optional<double>> given(modes.size() + 1);  // the last is of all modes
  for (const std::string& item : items) {
    const std::size_t equals = item.rfind('=');
    const bool of_all = equals == std::string::npos;
    const std::string name = item.substr(0, of_all ? 0 : equals);
    std::optional<double>& value = given[of_all ? modes.size() : mode_of_flag(modes, name, "--dirichlet " + item)];
    if (value)
      throw Error(ErrorKind::config, fmt::format("--dirichlet {}: {} given twice", item,
                                                 of_all ? "the value of all modes is" : "mode " + name + " is"));
    value = dirichlet_value(item, item.substr(of_all ? 0 : equals + 1));
  }
  std::vector<double> values;
  for (std::size_t k = 0; k < modes.size(); ++k) values.push_back(given[k].value_or(given.back().value_or(0.1)));
  return values;
}

// What cells (i, i) of tied modes are.
void complete_self_cells(FitOptions& complete, const Dataset& data) {
  if (complete.tie.empty()) return;
  const auto [k, l] = tied_pair(complete, data);
  const std::size_t K = data.tensor.order();
  std::optional<std::uint32_t> self;  // an entity that a one has twice
  for_ones(data, [&, first = k, second = l](const std::uint32_t* coords, const std::int64_t*, std::size_t cells) {
    for (std::size_t i = 0; i < cells * K && !self; i += K)
      if (coords[i + first] == coords[i + second]) self = coords[i + first];
  });
  const Mode &first = data.tensor.modes[k], &second = data.tensor.modes[l];
  if (self && complete.self == SelfCells::missing)
    throw Error(
        ErrorKind::config,
        fmt::format("--self missing: a one has \"{}\" both as {} and as {}; use --self zero, or leave such ones "
                    "out of the data",
                    first.labels[*self], first.name, second.name));
  if (complete.self != SelfCells::automatic) return;
  if (!self)
    throw Error(
        ErrorKind::config,
        fmt::format("--tie {}: none of the ones has the same entity as {} and as {}; add --self missing if that "
                    "cannot be (these cells are then left out), or --self zero if it could be but is not",
                    complete.tie.front(), first.name, second.name));
  complete.self = SelfCells::zero;
}

void complete_dirichlet(FitOptions& complete, const Dataset& data) {
  if (!complete.dirichlet.empty()) return;
  if (!shares_columns(complete)) {
    complete.dirichlet = {"0.1"};
    return;
  }
  for (const Mode& mode : data.tensor.modes)
    complete.dirichlet.push_back(fmt::format("{}={}", mode.name, mode.labels.size() > 10000 ? "0.015" : "0.05"));
}

// Options of the model that follow from others or from the data.
void complete_sampler(FitOptions& complete, const Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  const std::int64_t ones = static_cast<std::int64_t>(data.ones());
  if (is_online(complete)) complete.sampler = Sampler::plain;
  if (complete.minibatch < 0) {
    complete.minibatch = std::max<std::int64_t>(1, (ones + 9) / 10);
    // Parameters that do not fit into the cache would otherwise cost more than the ones.
    std::int64_t entities = 0;
    for (const Mode& mode : tensor.modes) entities += mode.labels.size();
    if (ones > many_ones) complete.minibatch = std::max(complete.minibatch, std::min(2 * entities, (ones + 1) / 2));
  }
  // With few ones the noise of draws matters, with many their cost.
  const bool few = complete.minibatch <= few_ones_in_minibatch;
  if (complete.latent == SampleOrMean::automatic)
    complete.latent = few && !shares_columns(complete) ? SampleOrMean::mean : SampleOrMean::sample;
  if (complete.parameters == SampleOrMean::automatic)
    complete.parameters = few ? SampleOrMean::sample : SampleOrMean::mean;
  const std::int64_t counts = std::accumulate(tensor.counts.begin(), tensor.counts.end(), std::int64_t{0});
  const std::int64_t units = tensor.counts.empty() ? static_cast<std::int64_t>(tensor.nnz()) : counts;
  if (complete.sampler == Sampler::automatic)
    complete.sampler = units <= most_units_collapsed ? Sampler::collapsed : Sampler::plain;
  if (complete.sampler == Sampler::collapsed && counts > most_units_moved)
    throw Error(ErrorKind::config,
                "--sampler collapsed: it moves counts one by one, and these add up to more than 2^28; use --sampler "
                "plain");
  complete_weight_priors(complete, layout_of(complete, sizes_of_modes(data)).most_columns());
}

// What is not there yet, or makes no sense, where components share columns.
void check_shared(const FitOptions& complete, const Dataset& data) {
  if (is_rival(complete))
    throw Error(ErrorKind::config, fmt::format("--columns is for --model ztp, not {}", name_of(complete.model)));
  if (is_online(complete) && !data.networks.empty())
    throw Error(ErrorKind::config, "--columns with --method online: not with networks; use --method batch");
  if (is_online(complete) && complete.latent == SampleOrMean::mean)
    throw Error(ErrorKind::config, "--latent mean: with --columns latent counts are drawn; use --latent sample");
  const FactorLayout layout = layout_of(complete, sizes_of_modes(data));
  for (const Network& network : data.networks)
    if (layout.is_one_hot(layout.matrix(network.mode)))
      throw Error(ErrorKind::config,
                  fmt::format("--columns {0}=own: mode {0} has a network, and then its entities must "
                              "share columns; give a number",
                              data.tensor.modes[network.mode].name));
  if (complete.start == Start::prior && layout.one_hot_mode() < layout.modes())
    throw Error(ErrorKind::config,
                fmt::format("--start prior: not with --columns {}=own, whose ones would have no component",
                            data.tensor.modes[layout.one_hot_mode()].name));
}

void complete_schedule(FitOptions& complete) {
  if (complete.burn_in < 0) complete.burn_in = complete.sweeps / 2;
  if (complete.keep_every < 0) {
    const std::int64_t after = complete.sweeps - complete.burn_in, fitting = after * complete.chains / complete.draws;
    // Online, a draw takes about as long as a step, so not every step is kept.
    complete.keep_every = is_online(complete)
                              ? std::clamp<std::int64_t>(fitting, std::min<std::int64_t>(2, after), after)
                              : std::clamp<std::int64_t>(fitting, 1, 5);
  }
  if (complete.sweeps - complete.burn_in < complete.keep_every)
    throw Error(ErrorKind::config, fmt::format("--keep-every {}: no draw would be kept in the {} sweeps after burn-in",
                                               complete.keep_every, complete.sweeps - complete.burn_in));
}

}  // namespace

std::pair<std::size_t, std::size_t> tied_pair(const FitOptions& options, const Dataset& data) {
  const std::vector<std::size_t> tied = tied_modes(options, sizes_of_modes(data));
  std::size_t k = 0;
  while (tied[k] == k) ++k;
  return {k, tied[k]};
}

FitOptions complete_options(const FitOptions& options, const Dataset& data) {
  check_options(options, !data.networks.empty());
  dirichlet_of_modes(options.dirichlet, data.tensor.modes);
  FitOptions complete = fill_in_defaults(options, data);
  if (shares_columns(complete)) check_shared(complete, data);
  return complete;
}

FitOptions fill_in_defaults(const FitOptions& options, const Dataset& data) {
  FitOptions complete = options;
  if (complete.threads == 0) complete.threads = useful_threads(data);
  complete_layout(complete, sizes_of_modes(data), data.ones());
  complete_self_cells(complete, data);
  complete_dirichlet(complete, data);
  if (is_point_estimate(complete)) {  // the last iteration is the one draw
    complete.burn_in = complete.sweeps - 1;
    complete.keep_every = complete.draws = 1;
    return complete;
  }
  if (!is_rival(complete)) complete_sampler(complete, data);
  complete_schedule(complete);
  return complete;
}

ReadOptions complete_read_options(const ReadOptions& read, const FitOptions& options) {
  ReadOptions reading = read;
  reading.counts = has_counts(options);
  reading.tie = options.tie;
  reading.stream = is_online(options);
  reading.threads = options.threads > 0 ? static_cast<unsigned>(options.threads) : available_cores();
  return reading;
}

Hyperparameters hyperparameters(const FitOptions& complete, const FactorLayout& layout,
                                const std::vector<Mode>& modes) {
  const WeightPriors priors = weight_priors(complete);
  const std::vector<double> of_modes = dirichlet_of_modes(complete.dirichlet, modes);
  std::vector<double> of_matrices;
  for (std::size_t f = 0; f < layout.matrices(); ++f) of_matrices.push_back(of_modes[layout.first_mode(f)]);
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (of_modes[k] != of_matrices[layout.matrix(k)])
      throw Error(ErrorKind::config, fmt::format("--dirichlet: modes {} and {} are tied and need the same value",
                                                 modes[layout.first_mode(layout.matrix(k))].name, modes[k].name));
  return {of_matrices, priors.tensor, priors.network, learned(complete).dirichlet, learned(complete).gamma_shape};
}

Problem make_problem(const FitOptions& complete, const Dataset& data, Pool* pool) {
  Problem problem;
  problem.pool = pool;
  problem.tensor = &data.tensor;
  problem.options = complete;
  problem.networks = data.networks;
  problem.missing = data.missing.empty() ? nullptr : &data.missing;
  problem.layout = layout_of(complete, sizes_of_modes(data));
  problem.hyper = hyperparameters(complete, problem.layout, data.tensor.modes);
  problem.seed = complete.seed;
  problem.learn_after = static_cast<std::uint32_t>(std::min<std::int64_t>(50, complete.burn_in / 2));
  // At first components are all alike, and with many ones they would pile up in few columns.
  if (data.ones() > static_cast<std::uint64_t>(most_units_collapsed))
    problem.columns_after = static_cast<std::uint32_t>(std::min<std::int64_t>(50, complete.burn_in / 2));
  problem.self_missing = complete.self == SelfCells::missing;
  problem.bounded = problem.layout.columns_are_components() && problem.layout.components() >= least_rank_bounded;
  problem.collapsed = complete.sampler == Sampler::collapsed;
  return problem;
}

OnlineOptions online_options(const FitOptions& complete) {
  return {.kappa = complete.kappa,
          .t0 = complete.t0,
          .expected_counts = complete.latent == SampleOrMean::mean,
          .mean_parameters = complete.parameters == SampleOrMean::mean,
          .inner_draws = static_cast<std::uint32_t>(complete.inner_draws)};
}

Schedule make_schedule(const FitOptions& complete, const DrawLayout& layout) {
  Schedule result;
  result.chains = static_cast<std::uint32_t>(complete.chains);
  result.sweeps = static_cast<std::uint32_t>(complete.sweeps);
  result.burn_in = static_cast<std::uint32_t>(complete.burn_in);
  result.keep_every = static_cast<std::uint32_t>(complete.keep_every);
  result.score_every = result.keep_every;
  result.watch_every = std::max(1u, (result.sweeps - result.burn_in) / most_watched_sweeps);
  const std::uint64_t fit_in_file = std::max<std::uint64_t>(1, most_draw_bytes / layout.bytes());
  result = result.thinned_to(std::min<std::uint64_t>(static_cast<std::uint64_t>(complete.draws), fit_in_file));
  if (is_online(complete))  // scoring cells needs a draw of all parameters, which takes longer than a step
    result.score_every = result.watch_every = result.keep_every;
  return result;
}

Schedule schedule_of_run(const RunInfo& info) {
  const FitOptions& options = info.options;
  return {.chains = static_cast<std::uint32_t>(options.chains),
          .sweeps = static_cast<std::uint32_t>(options.sweeps),
          .burn_in = static_cast<std::uint32_t>(options.burn_in),
          .keep_every = info.keep_every,
          .score_every = is_online(options) ? info.keep_every : static_cast<std::uint32_t>(options.keep_every),
          .watch_every = info.watch_every};
}

}  // namespace ztp
