#include "options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

using FieldList = std::vector<const OptionField*>;

void check_value(const OptionField& field, const FitOptions& options) {
  if (auto number = std::get_if<std::int64_t FitOptions::*>(&field.member))
    check_range(field, static_cast<double>(options.**number), field.range.largest);
  else if (auto real = std::get_if<double FitOptions::*>(&field.member))
    check_range(field, options.**real, field.range.largest);
}

// The options that differ from their defaults.
FieldList changed(const FitOptions& options) {
  FieldList fields;
  for (const OptionField& field : fit_option_fields())
    if (field.is_changed(options)) fields.push_back(&field);
  return fields;
}

// An option without effect is a mistake, so it is refused, not ignored.
void check_used(const FitOptions& options, const FieldList& given) {
  for (const OptionField* field : given) {
    if (field->used_by(options.model)) continue;
    throw Error(ErrorKind::usage, fmt::format("{} is not used by --model {}, only by --model {}", field->flag(),
                                              name_of(options.model), names_of_models(*field, "|")));
  }
}

void check_needs(const FitOptions& options, const FieldList& given, bool networks) {
  const auto check = [&](Need need, bool met, const char* what) {
    for (const OptionField* field : given)
      if (field->needs == need && !met)
        throw Error(ErrorKind::usage, fmt::format("{} has no effect without {}", field->flag(), what));
  };
  check(Need::holdout, options.holdout > 0, "--holdout");
  check(Need::test_cells, options.holdout > 0 || !options.test.empty(), "--holdout or --test");
  check(Need::online, is_online(options), "--method online");
  check(Need::network, networks, "--network");
  check(Need::converged, options.until == Until::converged, "--until converged");
}

void check_online(const FitOptions& options) {
  const auto refuse = [](bool given, const char* flag, const char* why) {
    if (given) throw Error(ErrorKind::config, fmt::format("{} is for --method batch only: {}", flag, why));
  };
  refuse(!options.learn.empty(), "--learn", "online statistics are not integer counts");
  refuse(options.sampler == Sampler::collapsed, "--sampler collapsed", "it moves the counts of all ones at once");
  refuse(options.start == Start::prior, "--start prior", "online chains begin with a minibatch in random components");
  if (options.parameters != SampleOrMean::sample && options.inner_draws > 1)
    throw Error(ErrorKind::config, "--inner-draws needs --parameters sample");
}

// The number at the beginning of a text, and the rest of the text. NaN, if there is no number.
double leading_number(std::string_view text, std::string_view& rest) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : std::numeric_limits<double>::quiet_NaN();
}

// "30s", "10m", "2h" in seconds; NaN, if it is none of these.
double duration(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit);
  const double seconds = unit == "s" ? value : unit == "m" ? 60 * value : unit == "h" ? 3600 * value : 0;
  return seconds > 0 && seconds <= 1e9 ? seconds : std::numeric_limits<double>::quiet_NaN();
}

void check_until_converged(const FitOptions& options) {
  seconds_at_most(options.at_most);
  if (is_online(options))
    throw Error(ErrorKind::config,
                "--until converged is for --method batch: online chains do not sample the posterior");
  if (options.chains == 1)
    throw Error(ErrorKind::config, "--until converged needs --chains 2 or more: it compares them");
  if (options.sweeps < fewest_sweeps_until_converged)
    throw Error(ErrorKind::config, fmt::format("--sweeps {}: --until converged needs {} or more", options.sweeps,
                                               fewest_sweeps_until_converged));
}

// Options with a syntax of their own, and combinations that are not allowed.
void check_combinations(const FitOptions& options) {
  learned(options);
  zeros_per_one_of(options.zeros);
  checkpoint_interval(options.checkpoint);
  if (!options.memory.empty()) memory_limit(options.memory);
  if (is_online(options)) check_online(options);
  if (options.until == Until::converged) check_until_converged(options);
  if (options.burn_in >= options.sweeps)
    throw Error(ErrorKind::config, fmt::format("--burn-in {}: must be less than --sweeps {}, which includes it",
                                               options.burn_in, options.sweeps));
  if (options.holdout > 0 && !options.test.empty())
    throw Error(ErrorKind::config, "use either --holdout or --test, not both");
}

}  // namespace

bool is_online(const FitOptions& options) {
  return options.method == Method::online;
}

bool has_counts(const FitOptions& options) {
  return options.likelihood == Likelihood::count;
}

bool is_rival(const FitOptions& options) {
  return options.model != Model::ztp;
}

bool shares_columns(const FitOptions& options) {
  return !options.columns.empty();
}

bool is_point_estimate(const FitOptions& options) {
  return options.model == Model::quad || options.model == Model::pwquad;
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
      throw Error(ErrorKind::config, fmt::format("--learn {}: there is nothing after the last comma", options.learn));
    begin = end + 1;
  }
  return result;
}

CheckpointInterval checkpoint_interval(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit), seconds = duration(text);
  if (unit.empty() && value >= 1 && value <= 4294967295.0 && value == std::floor(value))
    return {static_cast<std::uint32_t>(value), 0};
  if (!std::isnan(seconds)) return {0, seconds};
  throw Error(
      ErrorKind::config,
      fmt::format("--checkpoint {}: must be a number of sweeps, such as 50, or a time, such as 30s, 10m or 2h", text));
}

double seconds_at_most(const std::string& text) {
  const double seconds = duration(text);
  if (std::isnan(seconds))
    throw Error(ErrorKind::config, fmt::format("--at-most {}: must be a time, such as 30s, 10m or 2h", text));
  return seconds;
}

double memory_limit(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit);
  double factor = 1;
  if (!unit.empty()) {
    const std::size_t power = std::string_view("KMGT").find(static_cast<char>(unit[0] & ~0x20));
    if (power != std::string_view::npos) {
      factor = std::pow(1024.0, static_cast<double>(power + 1));
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
    if (unit == "B" || unit == "b") unit = {};
  }
  if (!unit.empty() || !(value > 0) || !(value * factor < 1e18))
    throw Error(ErrorKind::config, fmt::format("--memory {}: must be a size, such as 8G, 500M or 2000000000", text));
  return value * factor;
}

double zeros_per_one_of(const std::string& choice) {
  double each = 10;  // of auto, where they are not all used
  if (choice == "all" || choice == "auto") return each;
  const auto [end, error] = std::from_chars(choice.data(), choice.data() + choice.size(), each);
  if (error != std::errc() || end != choice.data() + choice.size() || !(each > 0 && each <= 1e9))
    throw Error(ErrorKind::config, fmt::format("--zeros {}: must be auto, all, or a number of zeros per one", choice));
  return each;
}

void check_range(const OptionField& field, double value, double largest) {
  if (!(value >= field.range.smallest && value <= largest))
    throw Error(ErrorKind::config,
                fmt::format("{} {}: must be between {} and {}", field.flag(), value, field.range.smallest, largest));
}

void check_ranges(const FitOptions& options) {
  for (const OptionField* field : changed(options)) check_value(*field, options);
}

void check_options(const FitOptions& options, const std::vector<const OptionField*>& given, bool networks) {
  check_used(options, given);
  for (const OptionField* field : given)
    if (field->default_text != "auto" || field->is_changed(options)) check_value(*field, options);
  check_needs(options, given, networks);
  check_combinations(options);
}

void check_options(const FitOptions& options, bool networks) {
  FieldList given = changed(options);
  for (const OptionField* field : given) check_value(*field, options);
  std::erase_if(given, [](const OptionField* field) { return field->is_filled_in(); });  // a run may be fitted again
  check_options(options, given, networks);
}

}  // namespace ztp
