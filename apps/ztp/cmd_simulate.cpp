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

struct SimulateCommand {
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
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is no whole number", flag, text));
  return number;
}

void print_summary(const SimulateCommand& given, const SimulateSummary& summary, double seconds) {
  if (given.json) {
    const nlohmann::ordered_json object = {
        {"out", given.out},           {"kind", name_of(given.options.kind)},         {"seed", given.options.seed},
        {"dims", given.options.dims}, {"rank", given.options.rank}, {"ones", summary.ones},
        {"points", summary.points},   {"rounds", summary.rounds},   {"cells", summary.volume},
        {"seconds", seconds},         {"files", summary.files}};
    fmt::print("{}\n", json_text(object));
    return;
  }
  fmt::print("{} ones in {} cells, {} in {}/tensor.tsv, {}\n", human_count(static_cast<double>(summary.ones)),
             human_count(summary.volume), human_bytes(static_cast<double>(summary.bytes)), given.out,
             human_seconds(seconds));
  for (const std::string& file : summary.files)
    if (file != "tensor.tsv") fmt::print("  {}/{}\n", given.out, file);
}

void run_simulate(SimulateCommand& given, const CLI::App& command) {
  if (given.options.kind == SimulateKind::planted && command.count("--dirichlet") > 0)
    throw Error(ErrorKind::usage, "--dirichlet is used with --kind model only");
  for (const std::string& text : given.edges) {
    const auto [mode, count] = split_assignment(text, "--edges", "N");
    given.options.edges.emplace_back(mode, whole_number(count, "--edges " + text));
  }
  const double start = clock_seconds();
  SimulateSummary summary;
  {
    ProgressLine line;
    summary = write_simulation(given.options, given.out, given.force, !given.no_truth,
                               [&](const std::string& what, double part) { line.show(what, part); });
  }
  print_summary(given, summary, clock_seconds() - start);
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto given = std::make_shared<SimulateCommand>();
  CLI::App* command = app.add_subcommand("simulate", "Make a synthetic tensor with a known truth, of any size");
  command->add_option("--dims", given->options.dims, "entities of each mode, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{max_mode_size}))
      ->required();
  command->add_option("--ones", given->options.ones, "distinct ones, exactly")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}))
      ->required();
  command->add_option("--rank", given->options.rank, "components")->check(CLI::Range(1, 1'000'000));
  add_choice(*command, "--kind", given->options.kind,
             "planted: each component is a block of entities in every mode; model: columns and weights from the prior");
  command->add_option("--dirichlet", given->options.dirichlet, "concentration of the columns, with --kind model");
  command->add_option("--edges", given->edges, "MODE=N: a network of N edges over a mode, from the same columns")
      ->allow_extra_args(false);
  command->add_option("--mode-names", given->options.mode_names, "names, separated by commas; else mode1, mode2, ...")
      ->delimiter(',');
  command->add_option("--seed", given->options.seed, "the result is a function of the options and this")
      ->check(check_whole);
  command->add_option("--out", given->out, "the directory for tensor.tsv, labels/, network-MODE.tsv and truth/")
      ->required();
  command->add_flag("--no-truth", given->no_truth, "do not write truth/");
  command->add_flag("--force", given->force,
                    "write into a directory that has contents, replacing an earlier simulation");
  command->add_flag("--json", given->json, "print one JSON object");
  command->footer(
      "Example:\n"
      "  ztp simulate --dims 1000,1000,50 --ones 50000 --rank 10 --mode-names user,item,week --edges user=5000 --out "
      "made");
  command->callback([given, command] { run_simulate(*given, *command); });
}

}  // namespace ztp::app
