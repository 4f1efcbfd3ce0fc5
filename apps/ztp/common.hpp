// What several subcommands share: the flags that describe input data, and small formatting helpers.
#pragma once
#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "ztp/option_fields.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {
class Posterior;
}

namespace ztp::app {

// FILE and --format, --values, --index-base, --labels: how the ones are read.
void add_ones_flags(CLI::App& command, ReadOptions& options);
// The same and --missing, --missing-slices; with networks also --network, --missing-pairs.
void add_data_flags(CLI::App& command, ReadOptions& options, bool with_networks);
// Checks of numbers. The conversion of CLI11 reads 010 as 8, an empty text as 0, and wraps -1 around.
std::string check_integer(const std::string& text);
std::string check_whole(const std::string& text);
template <class Choice>
std::vector<std::string> names_of_choices() {
  return {choice_names<Choice>.begin(), choice_names<Choice>.end()};
}
// A flag whose values are the names of an enum; another value is wrong usage.
template <class Choice>
CLI::Option* add_choice(CLI::App& command, const std::string& flag, Choice& choice, const std::string& help) {
  const auto set = [&choice](const std::string& name) { choice = *choice_named<Choice>(name); };
  return command.add_option_function<std::string>(flag, set, help)
      ->default_str(name_of(choice))
      ->check(CLI::IsMember(names_of_choices<Choice>()));
}
// --rank: a number, or auto. A number out of its range is an error of the kind config, as of all options of a fit.
CLI::Option* add_rank_flag(CLI::App& command, std::int64_t& rank, const std::string& help);
// The range of a numeric option of a fit; other values are wrong usage.
CLI::Validator allowed_range(const std::string& option);
// The options of a fit whose flags were given.
std::vector<const OptionField*> given_options(const CLI::App& command);
// --threads, by default all cores.
void add_threads_flag(CLI::App& command, unsigned& threads);
// --kernel, --memory, --raw and --listed: PredictionOptions.
void add_kernel_flag(CLI::App& command, KernelName& kernel);
void add_memory_flag(CLI::App& command, std::string& memory);
void add_raw_flag(CLI::App& command, bool& raw);
void add_listed_flag(CLI::App& command, double& listed);

// Writes text to standard error. Failures are ignored: a closed terminal must not stop a fit.
void tell(const std::string& text);
// Warnings of reading, to standard error.
void print_warnings(const std::vector<std::string>& warnings);

void print_notes(const std::vector<std::string>& notes);

// Can the run be used? Three lines (ztp/verdicts.hpp).
void print_verdicts(const std::string& run_dir);
// After an answer: warnings, if the predictions of the run should not be used yet or their intervals are too narrow.
void warn_of_predictions(const std::string& run_dir);

// Lines of files that were skipped for unknown labels: warnings.
void print_skipped(const Posterior& posterior);
void add_skip_unknown_flag(CLI::App& command, bool& skip);

// Text that is not UTF-8 (labels can be anything) is shown with replacement characters.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
// Quotes a word for a shell, if need be.
std::string quoted_for_shell(const std::string& word);

std::string human_count(double count);                           // 1,401,944
std::string human_count(std::uint64_t count, const char* noun);  // 1 draw, 1,000 draws
std::string human_seconds(double seconds);                       // 3.2 s, 1 h 05 min

// How several processes made the run.
std::string processes_text(const RunInfo& info);

// The zeros that a logistic fit uses, in words.
std::string zeros_text(const RunInfo& info);

}  // namespace ztp::app
