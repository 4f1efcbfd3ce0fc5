#include "ztp/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options/amounts.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

[[noreturn]] void bad_value(const OptionField& field, const std::string& value, const std::string& allowed) {
  throw Error(ErrorKind::config, fmt::format("{} {}: must be {}", field.flag(), value, allowed));
}

void check_field(const OptionField& field, const FitOptions& options, bool given = false) {
  static const FitOptions untouched;
  const auto in_range = [&](double value, double default_value) {
    if (value == default_value && !given) return;  // it may stand for "follows from other options"
    if (!(value >= field.smallest && value <= field.largest))
      bad_value(field, fmt::format("{}", value), fmt::format("between {} and {}", field.smallest, field.largest));
  };
  if (auto number = std::get_if<std::int64_t FitOptions::*>(&field.member)) {
    in_range(static_cast<double>(options.**number), static_cast<double>(untouched.**number));
  } else if (auto real = std::get_if<double FitOptions::*>(&field.member)) {
    in_range(options.**real, untouched.**real);
  } else if (auto text = std::get_if<std::string FitOptions::*>(&field.member)) {
    const std::string& value = options.**text;
    if (!field.choices.empty() && std::find(field.choices.begin(), field.choices.end(), value) == field.choices.end())
      bad_value(field, value, fmt::format("one of: {}", fmt::join(field.choices, ", ")));
  }
}

}  // namespace

std::string OptionField::flag() const {
  std::string text = "--" + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

bool OptionField::used_by(const std::string& model) const {
  return models.empty() || (" " + models + " ").find(" " + model + " ") != std::string::npos;
}

bool is_point_estimate(const FitOptions& options) {
  return options.model == "quad" || options.model == "pwquad";
}

Learned learned(const FitOptions& options) {
  Learned result;
  for (std::size_t begin = 0; begin < options.learn.size();) {
    const std::size_t end = std::min(options.learn.find(',', begin), options.learn.size());
    const std::string word = options.learn.substr(begin, end - begin);
    if (word == "dirichlet")
      result.dirichlet = true;
    else if (word == "gamma-shape")
      result.gamma_shape = true;
    else
      throw Error(ErrorKind::config, fmt::format("--learn {}: \"{}\" cannot be learned; dirichlet and gamma-shape can",
                                                 options.learn, word));
    if (end + 1 == options.learn.size())
      throw Error(ErrorKind::config, fmt::format("--learn {}: nothing after the last comma", options.learn));
    begin = end + 1;
  }
  return result;
}

namespace {

void check_online(const FitOptions& options) {
  const auto refuse = [](bool given, const char* flag, const char* why) {
    if (given) throw Error(ErrorKind::config, fmt::format("{} is for --method batch alone: {}", flag, why));
  };
  refuse(!options.learn.empty(), "--learn", "online statistics are not whole counts");
  refuse(options.sampler == "collapsed", "--sampler collapsed", "it regroups all ones at once");
  refuse(options.start == "prior", "--start prior", "online chains begin with a minibatch in random components");
  if (options.parameters != "sample" && options.inner_draws > 1)
    throw Error(ErrorKind::config, "--inner-draws needs --parameters sample");
}

// An option without effect is a misunderstanding, and better said than ignored.
void check_used(const FitOptions& options) {
  static const FitOptions untouched;
  for (const OptionField& field : fit_option_fields()) {
    const bool given = std::visit([&](auto member) { return options.*member != untouched.*member; }, field.member);
    if (given && !field.used_by(options.model)) throw Error(ErrorKind::config, not_used(field, options.model));
  }
}

}  // namespace

std::string not_used(const OptionField& field, const std::string& model) {
  std::string models = field.models;
  std::replace(models.begin(), models.end(), ' ', '|');
  return fmt::format("{} is not used by --model {}; it is for --model {}", field.flag(), model, models);
}

void check_model(const FitOptions& options) {
  check_field(fit_option_fields().front(), options);
}

void check_given(const OptionField& field, const FitOptions& options) {
  check_field(field, options, true);
}

void check_option_ranges(const FitOptions& options) {
  for (const OptionField& field : fit_option_fields()) check_field(field, options);
}

void check_options(const FitOptions& options) {
  learned(options);
  check_option_ranges(options);
  check_used(options);
  zeros_per_one_of(options.zeros);
  checkpoint_interval(options.checkpoint);
  if (!options.memory.empty()) memory_limit(options.memory);
  if (options.method == "online") check_online(options);
  if (options.burn_in >= options.sweeps)
    throw Error(ErrorKind::config, fmt::format("--burn-in {}: must be below --sweeps {}, which includes it",
                                               options.burn_in, options.sweeps));
  if (options.draws < options.chains)
    throw Error(ErrorKind::config, fmt::format("--draws {}: must be at least --chains {}, for one draw of each",
                                               options.draws, options.chains));
  if (options.holdout_as != "zero" && options.holdout == 0 && options.test.empty())
    throw Error(ErrorKind::config, "--holdout-as has no effect without --holdout or --test");
  if (options.holdout > 0 && !options.test.empty())
    throw Error(ErrorKind::config, "--holdout and --test exclude each other: cells to follow come from one of them");
}

std::string options_as_markdown() {
  const FitOptions defaults;
  std::string text =
      "# Options of `ztp fit`\n\nMade by `ztp fit --options-markdown` from the one list that the flags, the checks "
      "and\n"
      "`options.json` come from.\n\n| flag | default | models | meaning |\n|---|---|---|---|\n";
  for (const OptionField& field : fit_option_fields()) {
    std::string value = field.default_text;
    if (value.empty())
      std::visit(
          [&](auto member) {
            using Value = std::remove_cvref_t<decltype(defaults.*member)>;
            if constexpr (std::is_same_v<Value, std::vector<std::string>>)
              value = fmt::format("{}", fmt::join(defaults.*member, " "));
            else
              value = fmt::format("{}", defaults.*member);
          },
          field.member);
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.flag(), value.empty() ? "none" : value,
                        field.models.empty() ? "all" : field.models, field.help);
  }
  return text;
}

}  // namespace ztp
