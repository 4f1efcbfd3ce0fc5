#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "ztp/error.hpp"
#include "ztp/simulate.hpp"

namespace ztp::app {
namespace {

struct SimulateFlags {
  SimulateOptions options;
  std::vector<std::string> edges;  // MODE=N
  std::string out;
  bool no_truth = false;
  bool force = false;
  bool json = false;
};

std::uint64_t whole_number(const std::string& text, const std::string& flag) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not an integer", flag, text));
  return number;
}

void print_summary(const SimulateFlags& flags, const SimulateSummary& summary, double seconds) {
  if (flags.json) {
    const nlohmann::ordered_json object = {{"out", flags.out},           {"kind", name_of(flags.options.kind)},
                                           {"seed", flags.options.seed}, {"dims", flags.options.dims},
                                           {"rank", flags.options.rank}, {"ones", summary.ones},
                                           {"points", summary.points},   {"rounds", summary.rounds},
                                           {"cells", summary.volume},    {"seconds", seconds},
                                           {"files", summary.files}};
    fmt::print("{}\n", json_text(object));
    return;
  }
  fmt::print("{} ones in {} cells, {} in {}/tensor.tsv, {}\n", human_count(static_cast<double>(summary.ones)),
             human_count(summary.volume), human_bytes(static_cast<double>(summary.bytes)), flags.out,
             human_seconds(seconds));
  for (const std::string& file : summary.files)
    if (file != "tensor.tsv") fmt::print("  {}/{}\n", flags.out, file);
}

void run_simulate(SimulateFlags& flags, const CLI::App& command) {
  if (flags.options.kind != SimulateKind::model && command.count("--dirichlet") > 0)
    throw Error(ErrorKind::usage, "--dirichlet is used with --kind model only");
  if (flags.options.kind != SimulateKind::relations && command.count("--communities") > 0)
    throw Error(ErrorKind::usage, "--communities is used with --kind relations only");
  for (const std::string& text : flags.edges) {
    const auto [mode, count] = split_assignment(text, "--edges", "N");
    flags.options.edges.emplace_back(mode, whole_number(count, "--edges " + text));
  }
  const double start = clock_seconds();
  SimulateSummary summary;
  {
    ProgressLine line;
    summary = write_simulation(flags.options, flags.out, flags.force, !flags.no_truth,
                               [&](const std::string& what, double part) { line.show(what, part); });
  }
  print_summary(flags, summary, clock_seconds() - start);
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* command = app.add_subcommand("simulate", "Make a synthetic tensor of any size, with a known truth");
  command->add_option("--dims", flags->options.dims, "number of entities of each mode, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{max_mode_size}))
      ->required();
  command->add_option("--ones", flags->options.ones, "exact number of distinct ones")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}))
      ->required();
  command->add_option("--rank", flags->options.rank, "components")->check(CLI::Range(1, 1'000'000));
  add_choice(
      *command, "--kind", flags->options.kind,
      "planted: each component is a block of entities in every mode; model: columns and weights are drawn from the "
      "prior; relations: --dims entities,relations,entities, and each component is a relation between two communities");
  command->add_option("--communities", flags->options.communities,
                      "with --kind relations: number of communities of entities");
  command->add_option("--dirichlet", flags->options.dirichlet, "with --kind model: Dirichlet parameter of the columns");
  command
      ->add_option("--edges", flags->edges, "MODE=N: add a network of N edges over a mode, made from the same columns")
      ->allow_extra_args(false);
  command
      ->add_option("--mode-names", flags->options.mode_names,
                   "names of the modes, separated by commas; without it mode1, mode2, ...")
      ->delimiter(',');
  command->add_option("--seed", flags->options.seed, "seed of the random numbers")->check(check_whole);
  command->add_option("--out", flags->out, "the directory for tensor.tsv, labels/, network-MODE.tsv and truth/")
      ->required();
  command->add_flag("--no-truth", flags->no_truth, "do not write truth/");
  command->add_flag("--force", flags->force,
                    "write into a directory that is not empty, replacing an earlier simulation");
  command->add_flag("--json", flags->json, "print one JSON object");
  command->footer(
      "Example:\n"
      "  ztp simulate --dims 1000,1000,50 --ones 50000 --rank 10 --mode-names user,item,week --edges user=5000 --out "
      "made");
  command->callback([flags, command] { run_simulate(*flags, *command); });
}

}  // namespace ztp::app
