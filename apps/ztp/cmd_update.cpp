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

struct UpdateCommand {
  std::string run;
  ReadOptions read;
  UpdateOptions options;
  bool json = false;
};

void print_summary(const UpdateCommand& given, const UpdateSummary& summary) {
  const std::string made = given.options.out.empty() ? given.run : given.options.out;
  if (given.json) {
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
  fmt::print("{} new ones, {} known already", count(summary.ones), count(summary.known_ones));
  if (summary.edges + summary.known_edges > 0)
    fmt::print("; {} new edges, {} known already", count(summary.edges), count(summary.known_edges));
  fmt::print("\n");
  for (const auto& [mode, number] : summary.entities)
    if (number > 0) fmt::print("{} new entities of mode {}\n", count(number), mode);
  const RunInfo info = run_info(made);
  fmt::print("{} draws of {} components in {}\n", info.draws, info.options.rank, made);
}

void run_update(UpdateCommand& given, const CLI::App& command) {
  install_stop_signals();
  const RunInfo info = run_info(given.run);
  ProgressBar bar(static_cast<std::uint32_t>(info.options.chains), static_cast<std::uint32_t>(given.options.sweeps));
  const UpdateSummary summary = update(given.run, given.read, given.options, callbacks_with(bar, command));
  bar.finish();
  print_warnings(summary.warnings);
  if (summary.outcome == FitOutcome::interrupted) {
    tell(fmt::format("Interrupted; {} is as it was before\n", quoted_for_shell(given.run)));
    throw CLI::RuntimeError(stop_exit_code());
  }
  print_summary(given, summary);
}

}  // namespace

void add_update(CLI::App& app) {
  auto given = std::make_shared<UpdateCommand>();
  CLI::App* command = app.add_subcommand("update", "Add new ones, edges and entities to a run, each used once");
  command->add_option("RUN", given->run, "the run directory, which is replaced when the update is done")->required();
  add_ones_flags(*command, given->read);
  command->get_option("FILE")->required(false);
  command->remove_option(command->get_option("--labels"));  // the run has them
  command->add_option("--network", given->read.networks, "MODE=FILE: new edges of the run's network over that mode")
      ->allow_extra_args(false);
  command->add_option("--sweeps", given->options.sweeps, "looks at the new data; a fifth of them before draws are kept")
      ->check(CLI::Range(std::int64_t{1}, most_update_sweeps));
  command->add_option("--draws", given->options.draws, "most draws to keep")->check(allowed("draws"));
  command
      ->add_option("--minibatch", given->options.minibatch,
                   "ones of the first look that are taken in before the parameters follow")
      ->default_str("a tenth of the new ones")
      ->check(allowed("minibatch"));
  command->add_option("--out", given->options.out, "make another run directory, and leave RUN as it is");
  add_threads_flag(*command, given->options.threads);
  command->add_flag("--json", given->json, "print one JSON object");
  command->footer("Example:\n  ztp update run today.tsv --network user=new-friends.tsv");
  command->callback([given, command] { run_update(*given, *command); });
}

}  // namespace ztp::app
