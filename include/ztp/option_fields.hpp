// The options of a fit as a list: the one place that knows their names, help, ranges and who uses them. Flags, checks,
// the echo in the run directory and docs/options.md come from it.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "ztp/options.hpp"

namespace ztp {

// What an option needs to have an effect.
enum class Need { nothing, holdout, test_cells, online, network, converged };

// An option of a fit: its name, what may be given, and who uses it.
struct OptionField {
  template <class... Values>
  using MemberOf = std::variant<Values FitOptions::*...>;
  using Member = MemberOf<std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>, Model, Likelihood,
                          Method, Sampler, Start, SampleOrMean, HoldoutAs, SelfCells, Until, KernelName>;
  std::string name;  // "burn_in"; the flag is --burn-in
  std::string help;  // for people, in one sentence
  Member member;     // where its value is
  // What a number may be. The value that stands for "follows from the rest" may be outside this range.
  struct Range {
    double smallest = 0, largest = 0;
  };
  Range range = {};
  std::string default_text = {};             // where the default follows from other options
  std::vector<Model> models = {Model::ztp};  // those that use it; empty: all
  Need needs = Need::nothing;                // without that it is refused
  bool may_change = false;                   // from one part of a run to the next: the draws are the same

  std::string flag() const;                  // "--burn-in"
  std::vector<std::string> choices() const;  // the names of its values, if it is a choice; else empty
  bool used_by(Model model) const;
  // Whether a complete run has another value than the default although none was given.
  bool is_filled_in() const;
  bool is_changed(const FitOptions& options) const;   // its value is not the default
  std::string text(const FitOptions& options) const;  // its value
  // Sets a choice by the name of its value. Error (config), if there is none of that name.
  void choose(FitOptions& options, const std::string& name) const;
};

// In the order of FitOptions.
const std::vector<OptionField>& fit_option_fields();
const OptionField& fit_option_field(const std::string& name);  // Error (usage), if there is none

// As check_options(options, networks), for callers who know which options were given. (The other function takes an
// option as given if it is not at its default, unless it is one that a run fills in.) A given flag must have an effect,
// even if its value is the default. A value that stands for "follows from the rest" may not be given.
void check_options(const FitOptions& options, const std::vector<const OptionField*>& given, bool networks);

// docs/options.md
std::string options_as_markdown();

}  // namespace ztp
