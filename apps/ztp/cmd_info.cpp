#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/run_info.hpp"

namespace ztp::app {
namespace {

void print_info(const RunInfo& info) {
  fmt::print("status       {}\n", info.status);
  fmt::print("command      {}\n", info.command);
  fmt::print("version      ztp {}\n", info.version);
  fmt::print("created      {}\n", info.created);
  fmt::print("data         {} ones, fingerprint {}\n", human_count(static_cast<double>(info.ones)), info.fingerprint);
  const auto missing = [](std::uint64_t count, const char* what) {
    return count == 0 ? "" : fmt::format(", {} {} missing", human_count(static_cast<double>(count)), what);
  };
  for (const auto& mode : info.modes)
    fmt::print("mode         {}: {} entities{}, dirichlet {}\n", mode.name, human_count(mode.size),
               missing(mode.missing_entities, "of them"), mode.dirichlet);
  for (const auto& network : info.networks)
    fmt::print("network      {}: {} edges from {}{}\n", info.modes[network.mode].name,
               human_count(static_cast<double>(network.edges)), network.source,
               missing(network.missing_pairs, "pairs"));
  if (info.missing_cells > 0)
    fmt::print("missing      {} cells, beside those of missing entities\n",
               human_count(static_cast<double>(info.missing_cells)));
  fmt::print("model        {} likelihood, rank at most {}, seed {}\n", info.options.likelihood, info.options.rank,
             info.options.seed);
  fmt::print("schedule     {} chains of {} sweeps, burn-in {}, a draw every {} sweeps\n", info.options.chains,
             info.options.sweeps, info.options.burn_in, info.keep_every);
  fmt::print("draws        {} of {}\n", info.draws, info.draws_planned);
  for (std::size_t c = 0; c < info.chains.size(); ++c) {
    const auto& chain = info.chains[c];
    fmt::print("chain {:<6} {} sweeps in {}, log-likelihood {:.1f}, occupied rank {}{}\n", c + 1, chain.sweeps,
               human_seconds(chain.seconds), chain.log_likelihood, chain.occupied,
               std::isnan(chain.occupied_mean) ? "" : fmt::format(" (mean over draws {:.1f})", chain.occupied_mean));
  }
  if (info.test_ones + info.test_zeros > 0)
    fmt::print("held out     {} ones, {} zeros, AUC-ROC {:.4f}\n", human_count(static_cast<double>(info.test_ones)),
               human_count(static_cast<double>(info.test_zeros)), info.auc_roc);
  if (info.peak_memory > 0) fmt::print("peak memory  {}\n", human_bytes(static_cast<double>(info.peak_memory)));
  fmt::print("options      {}\n", options_to_json(info.options));
}

}  // namespace

void add_info(CLI::App& app) {
  struct Given {
    std::string run;
    bool json = false;
  };
  auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("info", "What was run: command, options, data, times, occupied rank");
  command->add_option("RUN", given->run, "the run directory")->required();
  command->add_flag("--json", given->json, "as one JSON object");
  command->footer("Example:\n  ztp info run");
  command->callback([given] {
    const RunInfo info = run_info(given->run);
    if (given->json)
      fmt::print("{}\n", run_info_as_json(info));
    else
      print_info(info);
  });
}

}  // namespace ztp::app
