#include "options/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options/amounts.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

using FieldList = std::vector<const OptionField*>;

void check_value(const OptionField& field, const FitOptions& options) {
  if (auto number = std::get_if<std::int64_t FitOptions::*>(&field.member))
    check_range(field, static_cast<double>(options.**number), field.largest);
  else if (auto real = std::get_if<double FitOptions::*>(&field.member))
    check_range(field, options.**real, field.largest);
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
    throw Error(ErrorKind::usage, fmt::format("{} is not used by --model {}; it is for --model {}", field->flag(),
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
  check(Need::online, is_online(options), "--method online");
  check(Need::network, networks, "--network");
}

void check_online(const FitOptions& options) {
  const auto refuse = [](bool given, const char* flag, const char* why) {
    if (given) throw Error(ErrorKind::config, fmt::format("{} is for --method batch alone: {}", flag, why));
  };
  refuse(!options.learn.empty(), "--learn", "online statistics are not whole counts");
  refuse(options.sampler == Sampler::collapsed, "--sampler collapsed", "it regroups all ones at once");
  refuse(options.start == Start::prior, "--start prior", "online chains begin with a minibatch in random components");
  if (options.parameters != SampleOrMean::sample && options.inner_draws > 1)
    throw Error(ErrorKind::config, "--inner-draws needs --parameters sample");
}

// Options with a syntax of their own, and combinations that are not allowed.
void check_combinations(const FitOptions& options) {
  learned(options);
  zeros_per_one_of(options.zeros);
  checkpoint_interval(options.checkpoint);
  if (!options.memory.empty()) memory_limit(options.memory);
  if (is_online(options)) check_online(options);
  if (options.burn_in >= options.sweeps)
    throw Error(ErrorKind::config, fmt::format("--burn-in {}: must be below --sweeps {}, which includes it",
                                               options.burn_in, options.sweeps));
  if (options.draws < options.chains)
    throw Error(ErrorKind::config, fmt::format("--draws {}: must be at least --chains {}, for one draw of each",
                                               options.draws, options.chains));
  if (options.holdout_as != HoldoutAs::zero && options.holdout == 0 && options.test.empty())
    throw Error(ErrorKind::config, "--holdout-as has no effect without --holdout or --test");
  if (options.holdout > 0 && !options.test.empty())
    throw Error(ErrorKind::config, "--holdout and --test exclude each other: cells to follow come from one of them");
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
      throw Error(ErrorKind::config, fmt::format("--learn {}: nothing after the last comma", options.learn));
    begin = end + 1;
  }
  return result;
}

void check_range(const OptionField& field, double value, double largest) {
  if (!(value >= field.smallest && value <= largest))
    throw Error(ErrorKind::config,
                fmt::format("{} {}: must be between {} and {}", field.flag(), value, field.smallest, largest));
}

void check_ranges(const FitOptions& options) {
  for (const OptionField* field : changed(options)) check_value(*field, options);
}

void check_options(const FitOptions& options, const std::vector<const OptionField*>& given, bool networks) {
  check_used(options, given);
  for (const OptionField* field : given) check_value(*field, options);
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
