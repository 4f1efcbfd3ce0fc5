#include "common.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/pool.hpp"
#include "options/options.hpp"
#include "ztp/diagnose.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"
#include "ztp/posterior.hpp"

namespace ztp::app {

void add_ones_flags(CLI::App& command, ReadOptions& options) {
  command
      .add_option(
          "FILE", options.file,
          "file of ones: .csv, .tsv, .tns or .mtx, also .gz or .zst; a .ztpt from 'ztp convert'; - is standard input")
      ->required();
  command
      .add_option_function<std::string>(
          "--format", [&options](const std::string& name) { options.format = format_named(name); },
          "tsv, csv, tns or mtx, if neither the name nor the first lines of FILE tell")
      ->check(CLI::IsMember(names_of_choices<FileFormat>()));
  command
      .add_flag_function(
          "--header,!--no-header", [&options](std::int64_t count) { options.header = count > 0; },
          "the first line of FILE names the columns, or does not; by default it does if it begins with #, and in a "
          ".csv "
          "also if it looks like a header")
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  command.add_flag("--values", options.values, "the last column is a number; any nonzero is a one (.tsv, .csv)");
  command.add_option("--index-base", options.index_base, "first index of a .tns file")->check(CLI::Range(0, 1));
  command
      .add_option(
          "--labels", options.labels,
          "MODE=FILE: entities of a mode, one per line, also those without ones; or a directory with MODE.txt files")
      ->allow_extra_args(false);
}

void add_data_flags(CLI::App& command, ReadOptions& options, bool with_networks) {
  add_ones_flags(command, options);
  command.add_option("--missing", options.missing, "file of cells that were not observed, in the format of FILE");
  command
      .add_option("--missing-slices", options.missing_slices,
                  "MODE=FILE: entities of a mode whose cells were not observed, one per line")
      ->allow_extra_args(false);
  if (!with_networks) return;
  command.add_option("--network", options.networks, "MODE=FILE: undirected edges between entities of a mode")
      ->allow_extra_args(false);
  command
      .add_option("--missing-pairs", options.missing_pairs,
                  "MODE=FILE: pairs of the mode's network that were not observed; MODE:2=FILE for its second network")
      ->allow_extra_args(false);
}

std::string check_integer(const std::string& text) {
  const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  const bool decimal = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
  if (decimal && (digits.size() == 1 || digits[0] != '0')) return "";
  return fmt::format("\"{}\" is not an integer", text);
}

std::string check_whole(const std::string& text) {
  if (const std::string wrong = check_integer(text); !wrong.empty()) return wrong;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("\"{}\" is not an integer from 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
}

CLI::Option* add_rank_flag(CLI::App& command, std::int64_t& rank, const std::string& help) {
  const auto set = [&rank](const std::string& text) {
    rank = -1;
    if (text == "auto") return;
    const OptionField& field = fit_option_field("rank");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    check_range(field, error == std::errc() ? static_cast<double>(rank) : std::strtod(text.c_str(), nullptr),
                field.range.largest);
  };
  const auto check = [](const std::string& text) {
    const std::string wrong = text == "auto" ? "" : check_integer(text);
    return wrong.empty() ? wrong : wrong + ", nor auto";
  };
  return command.add_option_function<std::string>("--rank", set, help)
      ->default_str("auto")
      ->type_name("INT|auto")
      ->check(check);
}

CLI::Validator allowed_range(const std::string& option) {
  const OptionField& field = fit_option_field(option);
  if (std::holds_alternative<double FitOptions::*>(field.member))
    return CLI::Range(field.range.smallest, field.range.largest);
  return CLI::Range(static_cast<std::int64_t>(field.range.smallest), static_cast<std::int64_t>(field.range.largest));
}

std::vector<const OptionField*> given_options(const CLI::App& command) {
  std::vector<const OptionField*> given;
  for (const OptionField& field : fit_option_fields()) {
    const CLI::Option* flag = command.get_option_no_throw(field.flag());
    if (flag != nullptr && flag->count() > 0) given.push_back(&field);
  }
  return given;
}

void add_threads_flag(CLI::App& command, unsigned& threads) {
  threads = available_cores();
  command.add_option("--threads", threads, "maximum number of threads")->check(allowed_range("threads"));
}

void add_raw_flag(CLI::App& command, bool& raw) {
  command.add_flag("--raw", raw, "give probabilities of the posterior itself, not calibrated with held-out cells");
}

void add_kernel_flag(CLI::App& command, KernelName& kernel) {
  command
      .add_option_function<std::string>(
          "--kernel", [&kernel](const std::string& name) { kernel = choice_named<KernelName>(name).value(); },
          "implementation: cpu, cuda (a GPU) or auto (cuda if there is a GPU and enough work)")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
}

void add_memory_flag(CLI::App& command, std::string& memory) {
  command
      .add_option("--memory", memory,
                  "limit of memory, such as 8G or 500M; a draw that needs more is read in blocks of rows")
      ->default_str("what the machine has");
}

void add_listed_flag(CLI::App& command, double& listed) {
  command
      .add_option(
          "--listed", listed,
          "share of the true ones that the data contain, such as 0.9: gives P(one | not listed). With 1: P(listed)")
      ->default_str("1")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value);
            return number && value > 0 && value <= 1 ? std::string()
                                                     : fmt::format(
                                                           "{} is not a share: it must be above 0 and at most 1, such "
                                                           "as 0.9 if the data list nine of ten true ones",
                                                           text);
          },
          "", "share"));
}

void tell(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) tell(fmt::format("ztp: warning: {}\n", warning));
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) tell(fmt::format("ztp: note: {}\n", note));
}

void print_verdicts(const std::string& run_dir) {
  for (const RunVerdict& verdict : run_verdicts(run_dir)) fmt::print("{}\n", verdict.line());
}

void warn_of_predictions(const std::string& run_dir) {
  const Cautions found = cautions(run_dir);
  std::vector<std::string> warnings;
  if (!found.convergence.empty())
    warnings.push_back(fmt::format("{}: {}; 'ztp diagnose {}' tells what helps", run_dir, found.convergence,
                                   quoted_for_shell(run_dir)));
  if (!found.intervals.empty()) warnings.push_back(fmt::format("{}: {}", run_dir, found.intervals));
  print_warnings(warnings);
}

void print_skipped(const Posterior& posterior) {
  std::vector<std::string> warnings;
  for (const SkippedLines& lines : posterior.skipped_lines()) warnings.push_back(lines.sentence());
  print_warnings(warnings);
}

void add_skip_unknown_flag(CLI::App& command, bool& skip) {
  command.add_flag("--skip-unknown", skip,
                   "skip lines of files with labels that the run does not have, and tell how many; else an error");
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return ztp::json_text(json, indent);
}

std::string quoted_for_shell(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$`*?[];&|<>()#~!{}") == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string human_count(double count) {
  if (count >= 1e15) return fmt::format("{:.3g}", count);
  std::string digits = fmt::format("{:.0f}", count);
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::string human_count(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", human_count(static_cast<double>(count)), noun, count == 1 ? "" : "s");
}

std::string human_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const std::int64_t whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string processes_text(const RunInfo& info) {
  std::string text = fmt::format("{} processes", info.processes);
  if (info.bytes_per_sweep > 0)
    text += fmt::format("; the busiest has {:.2f} times its share of the ones, and {} are exchanged per sweep",
                        info.busiest, human_bytes(info.bytes_per_sweep));
  return text;
}

std::string zeros_text(const RunInfo& info) {
  const std::string count = human_count(static_cast<double>(info.training_zeros));
  if (info.zeros_used >= 1) return fmt::format("all {} zeros", count);
  return fmt::format("{} random zeros, one in {:.3g}; the intercept corrects for it", count, 1 / info.zeros_used);
}

}  // namespace ztp::app
