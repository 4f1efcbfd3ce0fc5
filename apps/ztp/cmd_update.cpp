#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "ztp/run_info.hpp"
#include "ztp/update.hpp"

namespace ztp::app {
namespace {

struct UpdateFlags {
  std::string run;
  ReadOptions read;
  UpdateOptions options;
  bool json = false;
};

void print_summary(const UpdateFlags& flags, const UpdateSummary& summary) {
  const std::string made = flags.options.out.empty() ? flags.run : flags.options.out;
  if (flags.json) {
    nlohmann::ordered_json json = {{"run", made},
                                   {"ones", summary.ones},
                                   {"known_ones", summary.known_ones},
                                   {"edges", summary.edges},
                                   {"known_edges", summary.known_edges}};
    for (const auto& [mode, count] : summary.entities) json["new_entities"][mode] = count;
    fmt::print("{}\n", json_text(json));
    return;
  }
  const auto count = [](std::uint64_t number) { return human_count(static_cast<double>(number)); };
  fmt::print("{} new ones, {} already known", count(summary.ones), count(summary.known_ones));
  if (summary.edges + summary.known_edges > 0)
    fmt::print("; {} new edges, {} already known", count(summary.edges), count(summary.known_edges));
  fmt::print("\n");
  for (const auto& [mode, number] : summary.entities)
    if (number > 0) fmt::print("{} new entities of mode {}\n", count(number), mode);
  const RunInfo info = run_info(made);
  fmt::print("{} of {} in {}\n", human_count(info.draws, "draw"), human_count(info.options.rank, "component"), made);
}

void run_update(UpdateFlags& flags, const CLI::App& command) {
  install_stop_signals();
  ProgressBar bar;
  const UpdateSummary summary = update(flags.run, flags.read, flags.options, callbacks_with(bar, command));
  bar.finish();
  print_notes(summary.notes);
  print_warnings(summary.warnings);
  if (summary.outcome == FitOutcome::interrupted) {
    tell(fmt::format("Interrupted; {} is unchanged\n", quoted_for_shell(flags.run)));
    throw CLI::RuntimeError(stop_exit_code());
  }
  print_summary(flags, summary);
}

}  // namespace

void add_update(CLI::App& app) {
  auto flags = std::make_shared<UpdateFlags>();
  CLI::App* command = app.add_subcommand("update", "Add new ones, edges and entities to a run; each is counted once");
  command->add_option("RUN", flags->run, "the run directory; it is replaced when the update is complete")->required();
  add_ones_flags(*command, flags->read);
  command->get_option("FILE")->required(false);
  command->remove_option(command->get_option("--labels"));  // the run has them
  command->add_option("--network", flags->read.networks, "MODE=FILE: new edges of the run's network over that mode")
      ->allow_extra_args(false);
  command->add_option("--sweeps", flags->options.sweeps, "passes over the new data; the first fifth is burn-in")
      ->check(CLI::Range(std::int64_t{1}, most_update_sweeps));
  command->add_option("--draws", flags->options.draws, "maximum number of draws to keep")
      ->check(allowed_range("draws"));
  command->add_option("--minibatch", flags->options.minibatch, "size of a minibatch in the first pass")
      ->default_str("a tenth of the new ones")
      ->check(allowed_range("minibatch"));
  command->add_option("--out", flags->options.out, "create another run directory, and leave RUN unchanged");
  add_threads_flag(*command, flags->options.threads);
  command->add_flag("--json", flags->json, "print one JSON object");
  command->footer(
      "Example:\n"
      "  ztp update run today.tsv --network user=new-friends.tsv");
  command->callback([flags, command] { run_update(*flags, *command); });
}

}  // namespace ztp::app
