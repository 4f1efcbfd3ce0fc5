#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "columns_and_core.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "options/options.hpp"
#include "ztp/run_info.hpp"

namespace ztp::app {
namespace {

// The posterior of the occupied rank: its mean, a 90 % interval, and its largest probabilities.
void print_rank(const RunInfo& info) {
  if (info.rank.empty()) return;
  double mean = 0, below = 0;
  std::size_t low = info.rank.back().first, high = low;
  for (const auto& [number, probability] : info.rank) {
    mean += static_cast<double>(number) * probability;
    const double up_to = below + probability;
    if (below < 0.05 && up_to >= 0.05) low = number;
    if (below < 0.95 && up_to >= 0.95) high = number;
    below = up_to;
  }
  auto likely = info.rank;
  std::stable_sort(likely.begin(), likely.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(likely.size(), 5); ++i)
    text += fmt::format("{}P({}) = {:.2f}", i == 0 ? "" : ", ", likely[i].first, likely[i].second);
  fmt::print("rank         {:.1f} occupied components on average, 90 % between {} and {}: {}\n", mean, low, high, text);
  double smallest = mean, largest = mean;
  for (const auto& chain : info.chains) {
    if (std::isnan(chain.occupied_mean)) continue;
    smallest = std::min(smallest, chain.occupied_mean);
    largest = std::max(largest, chain.occupied_mean);
  }
  if (largest - smallest > 1)
    fmt::print("             chains differ ({:.1f} to {:.1f} on average): 'ztp diagnose' tells whether they disagree\n",
               smallest, largest);
}

void print_chains(const RunInfo& info) {
  for (std::size_t c = 0; c < info.chains.size(); ++c) {
    const auto& chain = info.chains[c];
    fmt::print("chain {:<6} {} sweeps in {}{}, occupied rank {}{}\n", c + 1, chain.sweeps, human_seconds(chain.seconds),
               std::isnan(chain.log_likelihood) ? "" : fmt::format(", log-likelihood {:.1f}", chain.log_likelihood),
               chain.occupied,
               std::isnan(chain.occupied_mean) ? "" : fmt::format(" (mean over draws {:.1f})", chain.occupied_mean));
  }
  print_rank(info);
  std::size_t network_only = 0;
  for (const auto& chain : info.chains) network_only = std::max(network_only, chain.network_only);
  if (network_only > 0)
    fmt::print("             components used by a network alone, which say nothing about the tensor: {}\n",
               network_only);
}

// A model that is fitted by minimising.
void print_point(const RunInfo& info) {
  for (const auto& chain : info.chains)
    fmt::print("iterations   {} of {} in {}, bound {:.1f}\n", chain.sweeps, info.options.sweeps,
               human_seconds(chain.seconds), -chain.log_likelihood);
  for (const auto& [name, value] : info.learned) fmt::print("{:<12} {:.4g}\n", name, value);
}

// What a mode has of columns and prior.
std::string factors_text(const RunInfo& info, std::size_t k) {
  if (is_rival(info.options)) return "";
  if (shares_columns(info.options) && has_own_columns(info, k)) return ", own columns";
  std::string text;
  if (shares_columns(info.options)) {
    const std::string columns = info.options.columns[k];
    text = fmt::format(", {} columns", columns.substr(columns.rfind('=') + 1));
    if (const std::size_t twin = tied_mode(info, k); twin != k)
      text += fmt::format(" (those of {})", info.modes[twin].name);
  }
  return text + fmt::format(", dirichlet {}{}", info.modes[k].dirichlet,
                            ztp::learned(info.options).dirichlet ? " (median of its prior)" : "");
}

void print_data(const RunInfo& info) {
  const auto missing = [](std::uint64_t count, const char* what) {
    return count == 0 ? "" : fmt::format(", {} {} missing", human_count(static_cast<double>(count)), what);
  };
  fmt::print("data         {} ones, fingerprint {}\n", human_count(static_cast<double>(info.ones)), info.fingerprint);
  if (info.ones_in_file > 0)
    fmt::print("             {} of them in {}\n", human_count(static_cast<double>(info.ones_in_file)), info.ones_file);
  for (std::size_t k = 0; k < info.modes.size(); ++k)
    fmt::print("mode         {}: {} entities{}{}\n", info.modes[k].name, human_count(info.modes[k].size),
               missing(info.modes[k].missing_slices, "of them"), factors_text(info, k));
  if (info.options.self_cells == SelfCells::missing)
    fmt::print("missing      cells with the same entity in both tied modes\n");
  for (const auto& network : info.networks)
    fmt::print("network      {}: {} edges from {}{}\n", info.modes[network.mode].name,
               human_count(static_cast<double>(network.edges)), network.source,
               missing(network.missing_pairs, "pairs"));
  if (info.missing_cells > 0)
    fmt::print("missing      {} cells, not counting those of missing entities\n",
               human_count(static_cast<double>(info.missing_cells)));
}

void print_model(const RunInfo& info) {
  const FitOptions& options = info.options;
  if (is_rival(options)) {
    fmt::print("model        {}, rank {}{}, seed {}\n", name_of(options.model),
               is_point_estimate(options) ? "" : "at most ", options.rank, options.seed);
    if (options.model == Model::logistic) fmt::print("zeros        {}\n", zeros_text(info));
    return;
  }
  const std::string method = is_online(options)
                                 ? fmt::format("online, minibatches of {} (latent {}, parameters {})",
                                               options.minibatch, name_of(options.latent), name_of(options.parameters))
                                 : name_of(options.sampler) + " sampler";
  fmt::print("model        {} likelihood, rank at most {}{}, {}, seed {}\n", name_of(options.likelihood), options.rank,
             shares_columns(options) ? " (entries of the core)" : "", method, options.seed);
  if (!info.rank_choice.trials.empty()) fmt::print("             {}\n", rank_choice_text(info.rank_choice));
}

// A model that is sampled.
void print_draws(const RunInfo& info) {
  for (const auto& [name, mean] : info.learned) fmt::print("learned      {}: {:.4g} on average\n", name, mean);
  fmt::print("schedule     {} of {}, burn-in {}, one draw every {}\n", human_count(info.options.chains, "chain"),
             human_count(info.options.sweeps, "sweep"), info.options.burn_in,
             info.keep_every == 1 ? "sweep" : human_count(info.keep_every, "sweep"));
  if (!info.ended.empty()) fmt::print("ended        {}\n", ended_text(info));
  fmt::print("draws        {} of {} are kept\n", info.draws, info.draws_planned);
  fmt::print("time         {} by the clock (chains at the same time count once)\n", human_seconds(info.seconds));
  print_chains(info);
}

void print_info(const RunInfo& info) {
  fmt::print("status       {}\n", info.status);
  fmt::print("command      {}\n", info.command);
  fmt::print("version      ztp {}\n", info.version);
  fmt::print("created      {}\n", info.created);
  if (info.updates > 0)
    fmt::print("updates      {}; the schedule, times and draws below are those of the last one\n", info.updates);
  print_data(info);
  print_model(info);
  (is_point_estimate(info.options) ? print_point : print_draws)(info);
  if (info.test_ones + info.test_zeros > 0)
    fmt::print("held out     {} ones, {} zeros{}\n", human_count(static_cast<double>(info.test_ones)),
               human_count(static_cast<double>(info.test_zeros)),
               std::isnan(info.auc_roc) ? "" : fmt::format(", AUC-ROC {:.4f}", info.auc_roc));
  if (info.processes > 1) fmt::print("shared by    {}\n", processes_text(info));
  if (info.peak_memory > 0) fmt::print("peak memory  {}\n", human_bytes(static_cast<double>(info.peak_memory)));
  fmt::print("options      {}\n", options_to_json(info.options));
}

}  // namespace

void add_info(CLI::App& app) {
  struct InfoFlags {
    std::string run;
    bool json = false;
  };
  auto flags = std::make_shared<InfoFlags>();
  CLI::App* command = app.add_subcommand("info", "Show what was run: command, options, data, times, occupied rank");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_flag("--json", flags->json, "print one JSON object");
  command->footer(
      "Example:\n"
      "  ztp info run");
  command->callback([flags] {
    const RunInfo info = run_info(flags->run);
    if (flags->json)
      fmt::print("{}\n", run_info_as_json(info));
    else
      print_info(info);
  });
}

}  // namespace ztp::app
