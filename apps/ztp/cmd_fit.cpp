#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "comm/comm.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "ztp/error.hpp"
#include "ztp/fit.hpp"
#include "ztp/option_fields.hpp"
#include "ztp/run_info.hpp"

namespace ztp::app {
namespace {

struct FitFlags {
  ReadOptions read;
  FitOptions options;
  std::string out;
  bool force = false;
  bool markdown = false;
  bool json = false;
};

// The part of the help that an option of a fit stands in.
const char* group_of(const OptionField& field) {
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), field.name) != names.end();
  };
  if (is({"model", "rank", "likelihood", "method", "columns", "tie", "self_cells"})) return "Model";
  if (is({"holdout", "zeros_per_one", "test", "holdout_as"})) return "Held-out cells";
  if (is({"learn", "dirichlet", "gamma_shape", "beta_concentration", "beta_mean"}) || field.needs == Need::network)
    return "Prior";
  if (field.needs == Need::online) return "Online sampling";
  return field.used_by(Model::ztp) ? "Sampling" : "Rivals";
}

// Adds a flag for each option of a fit.
void add_option_flags(CLI::App& command, FitOptions& options) {
  for (const OptionField& field : fit_option_fields()) {
    if (field.name == "rank") {
      add_rank_flag(command, options.rank, field.help);
      command.get_option("--rank")->group(group_of(field));
      continue;
    }
    const auto add = [&]<class Value>(Value FitOptions::*member) {
      if constexpr (std::is_enum_v<Value>) {
        const auto choose = [&field, &options](const std::string& name) { field.choose(options, name); };
        return command.add_option_function<std::string>(field.flag(), choose, field.help)
            ->default_str(field.text(options));
      } else {
        return command.add_option(field.flag(), options.*member, field.help);
      }
    };
    CLI::Option* option = std::visit(add, field.member);
    option->group(group_of(field));
    if (!field.default_text.empty()) option->default_str(field.default_text);
    if (std::holds_alternative<std::uint64_t FitOptions::*>(field.member)) option->check(check_whole);
    if (std::holds_alternative<std::int64_t FitOptions::*>(field.member)) option->check(check_integer);
    if (auto list = std::get_if<std::vector<std::string> FitOptions::*>(&field.member))
      option->default_str(fmt::format("{}", fmt::join(options.**list, " ")))->allow_extra_args(false);
  }
}

// "occupied components 41.2 on average", with the range over chains.
std::string occupied_text(const RunInfo& info) {
  double sum = 0, least = INFINITY, most = 0;
  for (const RunInfo::ChainStatus& chain : info.chains) {
    sum += chain.occupied_mean;
    least = std::min(least, chain.occupied_mean);
    most = std::max(most, chain.occupied_mean);
  }
  const std::string mean =
      fmt::format("occupied components: {:.1f} on average", sum / static_cast<double>(info.chains.size()));
  return info.chains.size() == 1 ? mean : fmt::format("{}, {:.1f} to {:.1f} across chains", mean, least, most);
}

void finish(FitOutcome outcome, const std::string& run_dir, bool json) {
  if (outcome == FitOutcome::not_begun) {
    tell("Interrupted while the rank was being chosen; nothing was written.\n");
    throw CLI::RuntimeError(stop_exit_code());
  }
  if (outcome == FitOutcome::interrupted) {
    const std::string name = quoted_for_shell(run_dir);
    tell(fmt::format("Interrupted; everything so far is saved in {}. To continue: ztp resume {}\n", name, name));
    throw CLI::RuntimeError(stop_exit_code());
  }
  if (world().rank() > 0) return;
  const RunInfo info = run_info(run_dir);
  if (json) {
    fmt::print("{}\n", run_info_as_json(info));
    return;
  }
  if (info.options.model == Model::logistic) fmt::print("fitted to all ones and {}\n", zeros_text(info));
  if (is_point_estimate(info.options)) {
    fmt::print("{} components in {} ({} iterations, {})\n", info.options.rank, run_dir, info.options.sweeps,
               human_seconds(info.seconds));
  } else {
    fmt::print("{} of {} in {} ({} of {}; {} by the clock)\n", human_count(info.draws, "draw"),
               human_count(info.options.rank, "component"), run_dir, human_count(info.options.chains, "chain"),
               human_count(info.options.sweeps, "sweep"), human_seconds(info.seconds));
    fmt::print("{}\n", occupied_text(info));
  }
  if (!std::isnan(info.auc_roc))
    fmt::print("held-out AUC-ROC {:.4f} ({} ones, {} zeros)\n", info.auc_roc, info.test_ones, info.test_zeros);
  if (info.processes > 1) fmt::print("{}\n", processes_text(info));
  if (!info.ended.empty()) fmt::print("{}\n", ended_text(info));
  print_verdicts(run_dir);
}

void run_fit(FitFlags& flags, const CLI::App& command) {
  if (flags.markdown) {
    fmt::print("{}", options_as_markdown());
    return;
  }
  if (flags.read.file.empty()) throw Error(ErrorKind::usage, "fit needs the FILE with the ones; see ztp fit --help");
  if (flags.out.empty()) throw Error(ErrorKind::usage, "fit needs --out RUN, the run directory to create");
  check_options(flags.options, given_options(command), !flags.read.networks.empty());
  Dataset data;
  if (world().rank() == 0) {  // other processes of a job find the data in the run directory
    check_run_dir(flags.out, flags.force);
    data = read_dataset(flags.read, flags.options, flags.out);
    print_notes(data.notes);
    print_warnings(data.warnings);
  }
  install_stop_signals();  // only now: before, there is nothing to save, and Ctrl-C may end the program
  ProgressBar bar;
  const FitOutcome outcome = fit(std::move(data), flags.options, flags.out, callbacks_with(bar, command), flags.force);
  bar.finish();
  finish(outcome, flags.out, flags.json);
}

}  // namespace

void add_fit(CLI::App& app) {
  auto flags = std::make_shared<FitFlags>();
  CLI::App* command =
      app.add_subcommand("fit", "Fit the model by Gibbs sampling, batch or online, and write a run directory");
  command->add_option("--out", flags->out, "the run directory to create (needed)");
  command->add_flag("--force", flags->force, "replace an existing run directory");
  command->add_flag("--json", flags->json, "print a summary of the run as one JSON object");
  const std::size_t before = command->get_options().size();
  add_data_flags(*command, flags->read, true);
  command->get_option("FILE")->required(false);
  const std::vector<CLI::Option*> added = command->get_options();
  for (std::size_t i = before; i < added.size(); ++i) added[i]->group("Data");
  add_option_flags(*command, flags->options);
  command->add_flag("--options-markdown", flags->markdown, "print the table of options for the documentation")
      ->group("");
  command->footer(
      "Examples:\n"
      "  ztp fit ones.tsv --rank 50 --holdout 0.1 --network user=friends.tsv --out run\n"
      "  ztp fit ones.tsv --until converged --at-most 10m --out run");
  command->callback([flags, command] { run_fit(*flags, *command); });
}

void add_resume(CLI::App& app) {
  struct Resume {
    std::string run;
    ResumeOptions options;
    bool json = false;
  };
  auto flags = std::make_shared<Resume>();
  CLI::App* command = app.add_subcommand(
      "resume", "Continue a fit that was interrupted or killed, with the same result; or lengthen a complete one");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command
      ->add_option("--sweeps", flags->options.sweeps,
                   "new total number of sweeps of each chain, burn-in included; this also lengthens a complete run")
      ->default_str("as before")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", flags->options.threads, "maximum number of threads")
      ->default_str("as before")
      ->check(allowed_range("threads"));
  command->add_option("--checkpoint", flags->options.checkpoint, "as in 'ztp fit'")->default_str("as before");
  command->add_option("--memory", flags->options.memory, "as in 'ztp fit'")->default_str("the memory of the machine");
  command->add_flag("--json", flags->json, "print a summary of the run as one JSON object");
  command->footer(
      "Examples:\n"
      "  ztp resume run\n"
      "  ztp resume run --sweeps 5000");
  command->callback([flags, command] {
    const RunInfo info = run_info(flags->run);
    if (info.status == "complete" && flags->options.sweeps == 0) {
      resume(flags->run);  // removes what a kill may have left
      fmt::print("{} is complete: {} draws. Nothing to do.\n", flags->run, info.draws);
      return;
    }
    install_stop_signals();
    ProgressBar bar;
    const FitOutcome outcome = resume(flags->run, callbacks_with(bar, *command), flags->options);
    bar.finish();
    finish(outcome, flags->run, flags->json);
  });
}

}  // namespace ztp::app
