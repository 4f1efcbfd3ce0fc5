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

struct SplitCommand {
  ReadOptions read;
  SplitOptions options;
  std::string out;
  Likelihood likelihood = Likelihood::binary;
  bool force = false;
  bool json = false;
};

// A flag that the protocol does not use is a misunderstanding, and better said than ignored.
void check_flags(const SplitCommand& given, const CLI::App& command) {
  const auto refuse = [&](const char* flag) {
    if (command.count(flag) > 0)
      throw Error(ErrorKind::usage, fmt::format("{} is not used with --protocol {}", flag, name_of(given.options.protocol)));
  };
  if (given.options.protocol == Protocol::slices) {
    refuse("--holdout");
    if (command.count("--mode") == 0 || command.count("--after") == 0)
      throw Error(ErrorKind::usage, "--protocol slices needs --mode MODE and --after N");
    return;
  }
  refuse("--mode");
  refuse("--after");
  if (given.options.protocol == Protocol::cells) refuse("--zeros-per-one");
}

void print_summary(const SplitCommand& given, const SparseTensor& tensor, const Split& result) {
  const std::uint64_t train_ones = result.coords.size() / tensor.order();
  const std::uint64_t entities =
      result.slices_of ? tensor.modes[*result.slices_of].labels.size() - result.slices_from : 0;
  if (given.json) {
    nlohmann::ordered_json summary = {
        {"out", given.out},         {"protocol", name_of(given.options.protocol)},    {"seed", given.options.seed},
        {"train_ones", train_ones}, {"test_ones", result.test_ones}, {"test_zeros", result.test_zeros}};
    if (result.slices_of) summary["held_out_entities"] = entities;
    fmt::print("{}\n", json_text(summary));
    return;
  }
  const auto count = [](std::uint64_t number) { return human_count(static_cast<double>(number)); };
  fmt::print("training ones {:>14}   {}/train.tsv\n", count(train_ones), given.out);
  fmt::print("test ones     {:>14}   {}/test.tsv\n", count(result.test_ones), given.out);
  fmt::print("test zeros    {:>14}\n", count(result.test_zeros));
  if (result.slices_of)
    fmt::print(
        "held out      {0:>14}   {1}/missing-{2}.txt\n"
        "in a fit they are zeros, unless it has: --missing-slices {2}={1}/missing-{2}.txt --test {1}/test.tsv\n",
        count(entities), given.out, given.options.mode);
  fmt::print("all labels are in {0}/labels; next: ztp fit {0}/train.tsv{1} --labels {0}/labels --out run\n", given.out,
             given.read.counts ? " --likelihood count" : "");
}

void run_split(SplitCommand& given, const CLI::App& command) {
  check_flags(given, command);
  given.read.counts = given.likelihood == Likelihood::count;
  check_output_directory(given.out, given.force);
  const Dataset data = read_dataset(given.read);
  print_warnings(data.warnings);
  const Split result = split(data.tensor, given.options, data.missing);
  write_split(data.tensor, result, given.out, given.force);
  print_summary(given, data.tensor, result);
}

}  // namespace

void add_split(CLI::App& app) {
  auto given = std::make_shared<SplitCommand>();
  CLI::App* command = app.add_subcommand("split", "Split a tensor into training ones and test cells");
  add_data_flags(*command, given->read, false);
  add_choice(*command, "--likelihood", given->likelihood,
             "count: the last column is a count, to be kept in train.tsv");
  add_choice(*command, "--protocol", given->options.protocol,
             "cells: a part of all cells, ones and zeros; ones: a part of the ones, and drawn zeros; slices: all "
             "ones of the entities of --mode after the first --after, and zeros drawn among their cells");
  command->add_option("--holdout", given->options.holdout, "the part to hold out, of cells or ones")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--zeros-per-one", given->options.zeros_per_one, "zeros for each test one, with ones and slices")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--mode", given->options.mode, "slices: the mode");
  command->add_option("--after", given->options.after, "slices: how many entities to keep, in the order of labels")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{max_mode_size}));
  command->add_option("--seed", given->options.seed, "the split is a function of the data, the options and this")
      ->check(check_whole);
  command
      ->add_option("--out", given->out,
                   "the directory for train.tsv, test.tsv, labels/MODE.txt and, of slices, missing-MODE.txt")
      ->required();
  command->add_flag("--force", given->force, "write into a directory that has contents, replacing files");
  command->add_flag("--json", given->json, "print one JSON object");
  add_threads_flag(*command, given->read.threads);
  command->footer(
      "Examples:\n"
      "  ztp split ones.tsv --protocol cells --holdout 0.1 --seed 1 --out split\n"
      "  ztp split ones.tsv --protocol slices --mode user --after 900 --zeros-per-one 5 --out cold\n"
      "  ztp fit cold/train.tsv --labels cold/labels --missing-slices user=cold/missing-user.txt --test cold/test.tsv "
      "--out run");
  command->callback([given, command] { run_split(*given, *command); });
}

}  // namespace ztp::app
