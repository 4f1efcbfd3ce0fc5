// The options of a fit as a list: the one place that knows their names, help, ranges and who uses them. Flags, checks,
// the echo in the run directory and docs/options.md come from it.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "ztp/options.hpp"

namespace ztp {

// What an option has no effect without.
enum class Need { nothing, holdout, online, network };

// An option of a fit: its name, what may be given, and who uses it.
struct OptionField {
  using Member = std::variant<std::int64_t FitOptions::*, std::uint64_t FitOptions::*, double FitOptions::*,
                              std::string FitOptions::*, std::vector<std::string> FitOptions::*>;
  std::string name;     // "burn_in"; the flag is --burn-in
  std::string help;     // for people, in one sentence
  Member member;        // where its value is
  double smallest = 0;  // numbers: the allowed range; what stands for "follows from the rest" may be outside of it
  double largest = 0;
  std::vector<std::string> choices = {};  // texts: the allowed values, if only some are
  std::string default_text = {};          // where the default follows from other options
  std::string models = "ztp";             // those that use it, separated by blanks; empty: all
  Need needs = Need::nothing;             // without that it is refused
  bool may_change = false;                // from one part of a run to the next: the draws are the same

  std::string flag() const;  // "--burn-in"
  bool used_by(const std::string& model) const;
  // Whether a complete run has another value than the default although none was given.
  bool is_filled_in() const;
  bool is_changed(const FitOptions& options) const;   // it has not the value of its default
  std::string text(const FitOptions& options) const;  // its value
};

// In the order of FitOptions.
const std::vector<OptionField>& fit_option_fields();
const OptionField& fit_option_field(const std::string& name);  // Error (usage), if there is none

// As check_options(options, networks), for who knows which options were given. That takes those that are not at their
// defaults for given, but for those that a run fills in. A flag may be given
// the value of its default: it must be of use even so. But what stands for "follows from the rest" may not be given.
void check_options(const FitOptions& options, const std::vector<const OptionField*>& given, bool networks);

// docs/options.md
std::string options_as_markdown();

}  // namespace ztp
