#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "ztp/convert.hpp"

namespace ztp::app {
namespace {

struct ConvertFlags {
  ReadOptions read;
  ConvertOptions options;
  std::string out;
  Likelihood likelihood = Likelihood::binary;
  std::size_t memory_mib = 256;
  bool json = false;
};

void print_summary(const ConvertFlags& flags, const ConvertSummary& summary, double seconds) {
  if (flags.json) {
    nlohmann::ordered_json object = {{"out", flags.out},
                                     {"ones", summary.ones},
                                     {"total_count", summary.total_count},
                                     {"lines", summary.lines},
                                     {"duplicates", summary.duplicates},
                                     {"zeros", summary.zeros}};
    for (const auto& [name, size] : summary.modes) object["modes"].push_back({{"name", name}, {"size", size}});
    object["blocks"] = summary.blocks;
    object["bytes"] = summary.bytes;
    object["fingerprint"] = fmt::format("{:016x}", summary.fingerprint);
    object["seconds"] = seconds;
    object["warnings"] = summary.warnings;
    fmt::print("{}\n", json_text(object));
    return;
  }
  std::string modes;
  for (const auto& [name, size] : summary.modes)
    modes += fmt::format("{}{} {}", modes.empty() ? "" : " x ", human_count(size), name);
  fmt::print("{} ones, {}, {} in {}, {}\n", human_count(static_cast<double>(summary.ones)), modes,
             human_bytes(static_cast<double>(summary.bytes)), flags.out, human_seconds(seconds));
}

void run_convert(ConvertFlags& flags) {
  flags.read.counts = flags.likelihood == Likelihood::count;
  flags.options.memory = flags.memory_mib << 20;
  install_stop_signals();
  const double start = clock_seconds();
  ConvertSummary summary;
  {
    ProgressLine line;
    summary = convert(
        flags.read, flags.out, flags.options, [&](const std::string& what, double part) { line.show(what, part); },
        stop_signalled);
  }
  if (summary.stopped) {
    tell(fmt::format("Interrupted; nothing was written to {}.\n", quoted_for_shell(flags.out)));
    throw CLI::RuntimeError(stop_exit_code());
  }
  print_notes(summary.notes);
  print_warnings(summary.warnings);
  print_summary(flags, summary, clock_seconds() - start);
}

}  // namespace

void add_convert(CLI::App& app) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command =
      app.add_subcommand("convert", "Convert text to a shuffled, checksummed tensor file, in bounded memory");
  add_ones_flags(*command, flags->read);
  command->add_option("OUT", flags->out, "the file to write, usually called .ztpt")->required();
  command
      ->add_option("--tie", flags->read.tie, "MODE=MODE: give both modes the same entities, as 'ztp fit --tie' needs")
      ->expected(1);
  add_choice(*command, "--likelihood", flags->likelihood, "count: the last column is a count, which is kept");
  command->add_option("--memory", flags->memory_mib, "MiB of memory for sorting; the label tables need more on top")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 24));
  command->add_flag("--force", flags->options.force, "replace an existing file, once the new one is complete");
  command->add_flag("--json", flags->json, "print one JSON object");
  add_threads_flag(*command, flags->read.threads);
  command->footer(
      "Temporary data are written to the directory of OUT. They are about as large as the result, and are removed\n"
      "at the end.\n"
      "Example:\n"
      "  ztp convert ones.tsv.gz ones.ztpt\n"
      "  ztp fit ones.ztpt --rank 50 --out run");
  command->callback([flags] { run_convert(*flags); });
}

}  // namespace ztp::app
