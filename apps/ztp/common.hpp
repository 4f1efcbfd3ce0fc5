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

namespace ztp::app {

// FILE and --format, --values, --index-base, --labels: what it takes to read the ones.
void add_ones_flags(CLI::App& command, ReadOptions& options);
// These and --missing, --missing-slices; and, if wanted, --network, --missing-pairs.
void add_data_flags(CLI::App& command, ReadOptions& options, bool with_networks);
// Checks for flags whose conversion would take 010 for 8 and nothing for 0, and of 64 bits -1 for something else.
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
// What the numeric option of a fit with this name may be; not to be is wrong usage.
CLI::Validator allowed_range(const std::string& option);
// The options of a fit whose flags were given.
std::vector<const OptionField*> given_options(const CLI::App& command);
// --threads, by default all cores.
void add_threads_flag(CLI::App& command, unsigned& threads);

// Text for people, to standard error. That nobody can read it, on a closed terminal or a full disk, is no reason to
// stop a fit.
void tell(const std::string& text);
// Warnings of reading, to standard error.
void print_warnings(const std::vector<std::string>& warnings);

// Text that is not UTF-8 (labels can be anything) is shown with replacement characters.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
// A word as a shell would need it.
std::string quoted_for_shell(const std::string& word);

std::string human_count(double count);      // 1,401,944
std::string human_seconds(double seconds);  // 3.2 s, 1 h 05 min

// Which zeros a logistic fit uses.
std::string zeros_text(const RunInfo& info);

}  // namespace ztp::app
