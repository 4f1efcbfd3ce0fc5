#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/split.hpp"

namespace ztp::app {
namespace {

struct SplitFlags {
  ReadOptions read;
  SplitOptions options;
  std::string out;
  Likelihood likelihood = Likelihood::binary;
  bool force = false;
  bool json = false;
};

// A flag that the protocol does not use is a mistake, so it is refused, not ignored.
void check_flags(const SplitFlags& flags, const CLI::App& command) {
  const auto refuse = [&](const char* flag) {
    if (command.count(flag) > 0)
      throw Error(ErrorKind::usage,
                  fmt::format("{} is not used with --protocol {}", flag, name_of(flags.options.protocol)));
  };
  if (flags.options.protocol == Protocol::slices) {
    refuse("--holdout");
    if (command.count("--mode") == 0 || command.count("--after") == 0)
      throw Error(ErrorKind::usage, "--protocol slices needs --mode MODE and --after N");
    return;
  }
  refuse("--mode");
  refuse("--after");
  if (flags.options.protocol == Protocol::cells) refuse("--zeros-per-one");
}

void print_summary(const SplitFlags& flags, const SparseTensor& tensor, const Split& result) {
  const std::uint64_t train_ones = result.coords.size() / tensor.order();
  const std::uint64_t entities =
      result.slices_of ? tensor.modes[*result.slices_of].labels.size() - result.slices_from : 0;
  if (flags.json) {
    nlohmann::ordered_json summary = {{"out", flags.out},
                                      {"protocol", name_of(flags.options.protocol)},
                                      {"seed", flags.options.seed},
                                      {"train_ones", train_ones},
                                      {"test_ones", result.test_ones},
                                      {"test_zeros", result.test_zeros}};
    if (result.slices_of) summary["held_out_entities"] = entities;
    fmt::print("{}\n", json_text(summary));
    return;
  }
  const auto count = [](std::uint64_t number) { return human_count(static_cast<double>(number)); };
  fmt::print("training ones {:>14}   {}/train.tsv\n", count(train_ones), flags.out);
  fmt::print("test ones     {:>14}   {}/test.tsv\n", count(result.test_ones), flags.out);
  fmt::print("test zeros    {:>14}\n", count(result.test_zeros));
  if (result.slices_of)
    fmt::print(
        "held out      {0:>14}   {1}/missing-{2}.txt\n"
        "a fit treats their cells as zeros, unless you add: --missing-slices {2}={1}/missing-{2}.txt --test "
        "{1}/test.tsv\n",
        count(entities), flags.out, flags.options.mode);
  fmt::print("all labels are in {0}/labels; next: ztp fit {0}/train.tsv{1} --labels {0}/labels --out run\n", flags.out,
             flags.read.counts ? " --likelihood count" : "");
}

void run_split(SplitFlags& flags, const CLI::App& command) {
  check_flags(flags, command);
  flags.read.counts = flags.likelihood == Likelihood::count;
  check_output_directory(flags.out, flags.force);
  const Dataset data = read_dataset(flags.read);
  print_notes(data.notes);
  print_warnings(data.warnings);
  const Split result = split(data.tensor, flags.options, data.missing);
  write_split(data.tensor, result, flags.out, flags.force);
  print_summary(flags, data.tensor, result);
}

}  // namespace

void add_split(CLI::App& app) {
  auto flags = std::make_shared<SplitFlags>();
  CLI::App* command = app.add_subcommand("split", "Split a tensor into training ones and test cells");
  add_data_flags(*command, flags->read, false);
  add_choice(*command, "--likelihood", flags->likelihood,
             "count: the last column is a count, which is kept in train.tsv");
  add_choice(
      *command, "--protocol", flags->options.protocol,
      "what to hold out. cells: a share of all cells, ones and zeros. ones: a share of the ones, with random zeros. "
      "slices: all ones of the entities of --mode after the first --after, with random zeros among their cells");
  command->add_option("--holdout", flags->options.holdout, "share of the cells or ones to hold out")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--zeros-per-one", flags->options.zeros_per_one,
                   "with ones and slices: random zeros for each test one")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--mode", flags->options.mode, "slices: the mode");
  command->add_option("--after", flags->options.after, "slices: number of entities to keep, in the order of the labels")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{max_mode_size}));
  command->add_option("--seed", flags->options.seed, "seed of the random numbers")->check(check_whole);
  command
      ->add_option("--out", flags->out,
                   "the directory for train.tsv, test.tsv, labels/MODE.txt and, with slices, missing-MODE.txt")
      ->required();
  command->add_flag("--force", flags->force, "write into a directory that is not empty, replacing files");
  command->add_flag("--json", flags->json, "print one JSON object");
  add_threads_flag(*command, flags->read.threads);
  command->footer(
      "Examples:\n"
      "  ztp split ones.tsv --protocol cells --holdout 0.1 --seed 1 --out split\n"
      "  ztp split ones.tsv --protocol slices --mode user --after 900 --zeros-per-one 5 --out cold\n"
      "  ztp fit cold/train.tsv --labels cold/labels --missing-slices user=cold/missing-user.txt --test cold/test.tsv "
      "--out run");
  command->callback([flags, command] { run_split(*flags, *command); });
}

}  // namespace ztp::app
