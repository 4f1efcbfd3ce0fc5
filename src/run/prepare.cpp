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
#include "kernel/cuda/cuda_kernel.hpp"
#include "options/options.hpp"
#include "run/thread_plan.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t most_watched_sweeps = 2000;   // of each chain: enough to judge it, and cells.tsv stays small
constexpr std::int64_t most_units_collapsed = 50000;  // by default: above, the moves cost more than they gain
constexpr std::int64_t most_units_moved = std::int64_t{1} << 28;  // two gigabytes, and minutes a sweep
constexpr std::int64_t many_ones = 10000000;                      // for these two see complete_sampler
constexpr std::int64_t few_ones_in_minibatch = 50000;
constexpr std::uint64_t most_draw_bytes = std::uint64_t{4} << 30;
// By default. Questions about a run take a time that grows with its draws, and beyond some hundred the answers hardly
// change.
constexpr std::uint64_t usual_draw_bytes = std::uint64_t{256} << 20, fewest_draws = 100, usual_draws = 1000;
constexpr std::uint32_t least_online_steps = 5;   // from draw to draw: a draw takes about as long as a step
constexpr std::uint32_t least_scored_sweeps = 5;  // from score to score of the held-out cells, which are sorted for it

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
  if (self && complete.self_cells == SelfCells::missing)
    throw Error(ErrorKind::config, fmt::format("--self-cells missing: a one has \"{}\" both as {} and as {}; use "
                                               "--self-cells zero, or remove such ones from the data",
                                               first.labels[*self], first.name, second.name));
  if (complete.self_cells != SelfCells::automatic) return;
  if (!self)
    throw Error(
        ErrorKind::config,
        fmt::format("--tie {}: none of the ones has the same entity as {} and as {}; if an entity cannot relate to "
                    "itself, add --self-cells missing (these cells are then left out), otherwise --self-cells zero",
                    complete.tie.front(), first.name, second.name));
  complete.self_cells = SelfCells::zero;
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

// With fewer, a sweep on a few cores takes as long as talking to a GPU.
constexpr std::int64_t ones_worth_a_gpu = 100'000;

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
  if (complete.kernel == KernelName::cuda && complete.sampler == Sampler::collapsed)
    throw Error(ErrorKind::config,
                "--sampler collapsed does not work with --kernel cuda: it moves counts one by one; use --sampler plain "
                "or --kernel cpu");
  if (complete.sampler == Sampler::automatic)
    complete.sampler =
        units <= most_units_collapsed && complete.kernel != KernelName::cuda ? Sampler::collapsed : Sampler::plain;
  if (complete.kernel == KernelName::automatic)
    complete.kernel = complete.sampler == Sampler::plain && ones >= ones_worth_a_gpu && has_cuda() ? KernelName::cuda
                                                                                                   : KernelName::cpu;
  if (complete.sampler == Sampler::collapsed && counts > most_units_moved)
    throw Error(
        ErrorKind::config,
        "--sampler collapsed moves counts one by one, and here they add up to more than 2^28; use --sampler plain");
  complete_weight_priors(complete, layout_of(complete, sizes_of_modes(data)).most_columns());
}

// What is not there yet, or makes no sense, where components share columns.
void check_shared(const FitOptions& complete, const Dataset& data) {
  if (is_rival(complete))
    throw Error(ErrorKind::config, fmt::format("--columns is for --model ztp, not {}", name_of(complete.model)));
  if (is_online(complete) && !data.networks.empty())
    throw Error(ErrorKind::config, "--columns with --method online does not support networks; use --method batch");
  if (is_online(complete) && complete.latent == SampleOrMean::mean)
    throw Error(ErrorKind::config,
                "--latent mean does not work with --columns, which draws latent counts; use --latent sample");
  const FactorLayout layout = layout_of(complete, sizes_of_modes(data));
  for (const Network& network : data.networks)
    if (layout.is_one_hot(layout.matrix(network.mode)))
      throw Error(
          ErrorKind::config,
          fmt::format("--columns {0}=own: mode {0} has a network, so its entities must share columns; give a number",
                      data.tensor.modes[network.mode].name));
  if (complete.start == Start::prior && layout.one_hot_mode() < layout.modes())
    throw Error(ErrorKind::config,
                fmt::format("--start prior does not work with --columns {}=own: some ones would have no component",
                            data.tensor.modes[layout.one_hot_mode()].name));
}

std::uint64_t most_draws(const FitOptions& options, std::uint64_t bytes) {
  const std::uint64_t largest = static_cast<std::uint64_t>(fit_option_field("draws").range.largest);
  const std::uint64_t in_file = std::clamp<std::uint64_t>(most_draw_bytes / bytes, 1, largest);
  if (options.draws >= 0) return std::min(static_cast<std::uint64_t>(options.draws), in_file);
  if (options.keep_every >= 0) return in_file;
  return std::min(in_file, std::clamp(usual_draw_bytes / bytes, fewest_draws, usual_draws));
}

Schedule plain_schedule(const FitOptions& options, std::uint32_t keep_every) {
  return {.chains = static_cast<std::uint32_t>(options.chains),
          .sweeps = static_cast<std::uint32_t>(options.sweeps),
          .burn_in = static_cast<std::uint32_t>(options.burn_in),
          .keep_every = keep_every};
}

// On small data each chain stays near its own local optimum, and the difference between two fits falls as one over the
// square root of the number of chains (docs/results.md, "Mixing"). Large data take longer and differ less.
void complete_chains(FitOptions& complete, std::uint64_t ones) {
  if (complete.chains >= 0) return;
  const bool small = ones <= static_cast<std::uint64_t>(most_units_collapsed);
  complete.chains = small && !is_online(complete) && !is_rival(complete) ? 16 : 4;
  if (complete.draws >= 0) complete.chains = std::min(complete.chains, complete.draws);  // each keeps one
}

// Burn-in, how often draws are kept, and how many at most. A draw has so many bytes.
void complete_schedule(FitOptions& complete, std::uint64_t draw_bytes) {
  if (complete.burn_in < 0) complete.burn_in = complete.sweeps / 2;
  Schedule plan = plain_schedule(complete, is_online(complete) ? least_online_steps : 1);
  if (complete.keep_every >= 0)
    plan.keep_every = static_cast<std::uint32_t>(complete.keep_every);
  else if (plan.draws() == 0)
    plan.keep_every = 1;
  if (plan.draws() == 0)
    throw Error(ErrorKind::config, fmt::format("--keep-every {}: no draw would be kept, because none of the sweeps "
                                               "after burn-in ({} to {}) is a multiple of it",
                                               complete.keep_every, complete.burn_in + 1, complete.sweeps));
  const std::uint64_t most = most_draws(complete, draw_bytes);
  complete.keep_every = plan.thinned_to(most).keep_every;
  complete.draws = std::max(static_cast<std::int64_t>(most), complete.chains);
}

// Error, if draws are given that do not go with the chains or with keep_every.
void check_draws(const FitOptions& given, const FitOptions& complete) {
  if (given.draws >= 0 && given.draws < complete.chains)
    throw Error(ErrorKind::config, fmt::format("--draws {}: must be at least --chains {}, one draw for each chain",
                                               given.draws, complete.chains));
  if (given.keep_every < 0 || given.draws < 0) return;
  const std::uint64_t draws = plain_schedule(complete, static_cast<std::uint32_t>(given.keep_every)).draws();
  if (draws <= static_cast<std::uint64_t>(given.draws)) return;
  throw Error(ErrorKind::config, fmt::format("--keep-every {} keeps {} draws over all chains, but --draws {} allows "
                                             "fewer; drop one of the two options, or use --keep-every {}",
                                             given.keep_every, draws, given.draws, complete.keep_every));
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
  if (!is_point_estimate(complete)) check_draws(options, complete);
  return complete;
}

FitOptions fill_in_defaults(const FitOptions& options, const Dataset& data) {
  FitOptions complete = options;
  complete_layout(complete, sizes_of_modes(data), data.ones());
  complete_self_cells(complete, data);
  complete_dirichlet(complete, data);
  if (is_point_estimate(complete)) {  // the last iteration is the one draw
    complete.burn_in = complete.sweeps - 1;
    complete.keep_every = complete.draws = complete.chains = 1;
  } else {
    if (!is_rival(complete)) complete_sampler(complete, data);
    complete_chains(complete, data.ones());
    complete_schedule(complete, draw_layout(complete, data).bytes());
  }
  if (complete.threads == 0) complete.threads = useful_threads(complete, data);
  return complete;
}

FitOptions with_rank(std::int64_t rank, const FitOptions& given, const FitOptions& complete, const Dataset& data) {
  FitOptions result = complete;
  result.rank = rank;
  result.keep_every = given.keep_every;
  result.draws = given.draws;
  complete_schedule(result, draw_layout(result, data).bytes());
  result.beta_mean = given.beta_mean;
  result.network_beta_mean = given.network_beta_mean;
  complete_weight_priors(result, static_cast<std::size_t>(rank));
  return result;
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

namespace {

// The first sweeps, in which components are still all alike.
std::uint32_t first_sweeps(const FitOptions& complete) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(50, complete.burn_in / 2));
}

// With many ones, components that are all alike would pile up in few columns.
bool waits_with_columns(const FitOptions& complete, std::uint64_t ones) {
  return shares_columns(complete) && ones > static_cast<std::uint64_t>(most_units_collapsed);
}

}  // namespace

bool same_chains(const FitOptions& complete, const FitOptions& other, std::uint64_t ones) {
  const bool matters = !complete.learn.empty() || waits_with_columns(complete, ones);
  return !matters || first_sweeps(complete) == first_sweeps(other);
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
  problem.learn_after = first_sweeps(complete);
  if (waits_with_columns(complete, data.ones())) problem.columns_after = first_sweeps(complete);
  problem.self_missing = complete.self_cells == SelfCells::missing;
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

namespace {

// How often cells are looked at, where draws are kept so often.
Schedule with_looks_at_cells(const FitOptions& options, Schedule plan) {
  // Online, scoring cells needs a draw of all parameters, which takes longer than a step.
  const std::uint32_t k = plan.keep_every;
  plan.score_every = is_online(options) ? k : (least_scored_sweeps + k - 1) / k * k;
  plan.watch_every = is_online(options) ? k : 1;
  return is_online(options) ? plan : plan.watching_at_most(most_watched_sweeps);
}

}  // namespace

Schedule make_schedule(const FitOptions& complete, const DrawLayout& layout) {
  const Schedule plan = plain_schedule(complete, static_cast<std::uint32_t>(complete.keep_every));
  return with_looks_at_cells(complete, plan.thinned_to(most_draws(complete, layout.bytes())));
}

Schedule schedule_of_run(const RunInfo& info) {
  Schedule plan = with_looks_at_cells(info.options, plain_schedule(info.options, info.keep_every));
  plan.watch_every = info.watch_every;
  return plan;
}

void ask_for_sweeps(RunInfo& info, std::int64_t sweeps) {
  FitOptions& options = info.options;
  options.sweeps = sweeps;
  if (!info.burn_in_given) options.burn_in = -1;
  if (!info.keep_every_given) options.keep_every = -1;
  if (!info.draws_given) options.draws = -1;
  const DrawLayout layout = draw_layout(info);
  complete_schedule(options, layout.bytes());
  const Schedule plan = make_schedule(options, layout);
  info.keep_every = plan.keep_every;
  info.watch_every = plan.watch_every;
  info.draws_planned = plan.draws();
}

}  // namespace ztp
