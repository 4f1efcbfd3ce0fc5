#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <memory>

#include "commands.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "ztp/error.hpp"
#include "ztp/report.hpp"

namespace ztp::app {
namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string file;
  bool compare = false, force = false;
  ReportOptions options;
};

void check(ReportFlags& flags) {
  if (flags.file.empty()) flags.file = flags.compare ? "comparison.html" : "report.html";
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, what); };
  if (flags.compare && flags.runs.size() != 2)
    refuse("--compare takes two run directories: ztp report --compare RUN RUN");
  if (!flags.compare && flags.runs.size() != 1)
    refuse("a report is about one run; to compare two runs: ztp report --compare RUN RUN");
  if (flags.file == "-") refuse("-o -: a report is not written to standard output; name a file");
  if (std::filesystem::is_directory(flags.file))
    refuse(fmt::format("-o {}: this is a directory; name a file in it, such as {}", flags.file,
                       (std::filesystem::path(flags.file) / "report.html").string()));
  if (std::filesystem::exists(flags.file) && !std::filesystem::is_regular_file(flags.file))
    refuse(fmt::format("-o {}: this is not a regular file; name another", flags.file));
  if (std::filesystem::exists(flags.file) && !is_report(flags.file) && !flags.force)
    refuse(
        fmt::format("-o {}: this file is not a report of ztp; name another, or replace it with --force", flags.file));
}

void run_report(ReportFlags& flags) {
  check(flags);
  ReportSummary summary;
  {
    ProgressLine line;
    flags.options.progress = [&](const std::string& what) {
      line.show(what, std::numeric_limits<double>::quiet_NaN());
    };
    summary = flags.compare ? write_comparison(flags.runs[0], flags.runs[1], flags.file, flags.options)
                            : write_report(flags.runs[0], flags.file, flags.options);
  }
  for (const std::string& note : summary.notes) tell(fmt::format("ztp: note: {}\n", note));
  fmt::print("{} ({:.1f} MB): open it in a browser\n", flags.file, static_cast<double>(summary.bytes) / 1e6);
}

}  // namespace

void add_report(CLI::App& app) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand("report", "Write one HTML page: components, entities, fit, diagnostics");
  command->add_option("RUN", flags->runs, "the run directory; with --compare two of them")->required()->expected(1, -1);
  command->add_option("-o,--out", flags->file, "the file to write; an earlier report is replaced")
      ->default_str("report.html, or comparison.html");
  CLI::Option* compare = command->add_flag("--compare", flags->compare,
                                           "compare two runs: matched components side by side, and what differs");
  command
      ->add_option("--test", flags->options.test, "file of test cells to judge with: labels and a last column 0 or 1")
      ->default_str("the cells that the fit held out");
  command
      ->add_option("--ordered", flags->options.ordered,
                   "a mode whose entities have an order, such as days: draw it as a line (repeatable)")
      ->allow_extra_args(false)
      ->default_str("modes whose labels look ordered")
      ->excludes(compare);
  command->add_option("--unordered", flags->options.unordered, "a mode whose entities have no order (repeatable)")
      ->allow_extra_args(false)
      ->excludes(compare);
  command
      ->add_option("--entities", flags->options.entities,
                   "approximate number of entities in the page, over all modes: those with the most ones. The top of "
                   "every component and ordered modes are always included")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10000000}))
      ->excludes(compare);
  command->add_flag("--force", flags->force, "replace a file that is not a report");
  add_threads_flag(*command, flags->options.threads);
  command->footer(
      "The page needs no network and no server. Labels are shown as they are, so think before you publish it.\n"
      "Examples:\n"
      "  ztp report run -o report.html\n"
      "  ztp report --compare run-a run-b -o difference.html");
  command->callback([flags] { run_report(*flags); });
}

}  // namespace ztp::app
