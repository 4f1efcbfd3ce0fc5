#include "ztp/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "baselines/training_cells.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr double many = 4294967295.0;
constexpr double huge = 1e9;

std::vector<OptionField> make_fields() {
  using F = FitOptions;
  return {
      {"model",
       "ztp, or a rival of it: logistic (Bayesian logistic CP), quad (Quad-App) or pwquad (PW-QuadApp); see "
       "docs/model.md",
       &F::model,
       0,
       0,
       {"ztp", "logistic", "quad", "pwquad"},
       "",
       ""},
      {"rank",
       "upper bound R on the number of components; a prior empties those that are not needed (quad, pwquad: their "
       "number)",
       &F::rank,
       1,
       100000,
       {},
       "",
       ""},
      {"likelihood",
       "what a cell is: binary (a one or not) or count (last column of the file)",
       &F::likelihood,
       0,
       0,
       {"binary", "count"},
       ""},
      {"method",
       "batch (exact Gibbs sampling) or online (conditional density filtering: approximate, a minibatch a step, for "
       "data "
       "that are large or do not fit into memory)",
       &F::method,
       0,
       0,
       {"batch", "online"},
       ""},
      {"sweeps",
       "Gibbs sweeps of each chain, burn-in included; with --method online, minibatches",
       &F::sweeps,
       1,
       many,
       {},
       "",
       ""},
      {"burn_in",
       "sweeps thrown away before draws are kept",
       &F::burn_in,
       0,
       many,
       {},
       "half of the sweeps",
       "ztp logistic"},
      {"keep_every",
       "sweeps between kept draws",
       &F::keep_every,
       1,
       many,
       {},
       "5, less in a run too short for --draws; online 2, or as --draws asks for",
       "ztp logistic"},
      {"draws",
       "most draws to keep, all chains together; more are thinned, and fewer are kept where the file of draws "
       "would pass 4 GiB",
       &F::draws,
       1,
       1e6,
       {},
       "",
       "ztp logistic"},
      {"chains",
       "independent chains, run one after the other and averaged in predictions",
       &F::chains,
       1,
       1000,
       {},
       "",
       "ztp logistic"},
      {"seed", "every draw is a function of it", &F::seed, 0, 1.8446744073709552e19, {}, "", ""},
      {"threads", "threads; the draws do not depend on their number", &F::threads, 1, 1024, {}, "all cores", ""},
      {"sampler",
       "plain (the paper's Gibbs sweep), collapsed (which then regroups counts with the parameters integrated out: "
       "better mixing, "
       "and the rank is drawn) or auto (collapsed for up to 50000 ones)",
       &F::sampler,
       0,
       0,
       {"auto", "plain", "collapsed"},
       ""},
      {"start",
       "where a chain begins: allocation (each one in a random component) or prior (parameters drawn with no counts at "
       "all)",
       &F::start,
       0,
       0,
       {"allocation", "prior"},
       ""},
      {"learn",
       "hyperparameters to draw with the rest: dirichlet (one for each mode), gamma-shape, or dirichlet,gamma-shape; "
       "the "
       "values of --dirichlet and of the gamma shapes become the medians of their priors",
       &F::learn,
       0,
       0,
       {},
       ""},
      {"minibatch",
       "online: ones in a minibatch",
       &F::minibatch,
       1,
       1e15,
       {},
       "a tenth of the ones; of more than ten million ones, at least twice the entities"},
      {"kappa",
       "online: step t moves the statistics by (t + t0)^-kappa of the way to what its minibatch says",
       &F::kappa,
       1e-6,
       1,
       {},
       ""},
      {"t0", "online: see --kappa", &F::t0, 0, huge, {}, ""},
      {"latent",
       "online: latent counts of a minibatch, sample (drawn), mean (their expectations: more accurate, slower) or auto "
       "(mean for minibatches of up to 50000 ones)",
       &F::latent,
       0,
       0,
       {"auto", "sample", "mean"},
       ""},
      {"parameters",
       "online: parameters a minibatch is looked at with, sample (draws), mean (their expectations: faster) or auto "
       "(sample for minibatches of up to 50000 ones)",
       &F::parameters,
       0,
       0,
       {"auto", "sample", "mean"},
       ""},
      {"inner_draws",
       "online: with --parameters sample, draws that are averaged for a minibatch",
       &F::inner_draws,
       1,
       10000,
       {},
       ""},
      {"dirichlet",
       "Dirichlet parameter a of the factor columns: A for all modes, or MODE=A (repeatable)",
       &F::dirichlet,
       0,
       0,
       {},
       ""},
      {"gamma_shape", "shape g of the gamma prior of the weights", &F::gamma_shape, 1e-6, huge, {}, ""},
      {"beta_concentration", "c of the prior p ~ Beta(c eps, c (1 - eps))", &F::beta_concentration, 1e-6, huge, {}, ""},
      {"beta_mean", "eps of the same prior", &F::beta_mean, 1e-12, 1 - 1e-12, {}, "1/R, at most 1/2"},
      {"network_gamma_shape",
       "shape f of the gamma prior of a network's weights",
       &F::network_gamma_shape,
       1e-6,
       huge,
       {},
       ""},
      {"network_beta_concentration",
       "d of the prior h ~ Beta(d alpha, d (1 - alpha))",
       &F::network_beta_concentration,
       1e-6,
       huge,
       {},
       ""},
      {"network_beta_mean", "alpha of the same prior", &F::network_beta_mean, 1e-12, 1 - 1e-12, {}, "1/R, at most 1/2"},
      {"holdout",
       "share of the ones to hold out and follow, with drawn zeros beside them",
       &F::holdout,
       0,
       0.99,
       {},
       "",
       ""},
      {"zeros_per_one", "zero cells drawn for each held-out one", &F::zeros_per_one, 0, 1e6, {}, "", ""},
      {"test",
       "file of cells with a last column 0 or 1 to follow instead of a drawn hold-out",
       &F::test,
       0,
       0,
       {},
       "",
       ""},
      {"holdout_as",
       "what held-out cells are to the fit: zero (as in the paper) or missing (unknown)",
       &F::holdout_as,
       0,
       0,
       {"zero", "missing"},
       "",
       ""},
      {"kernel", "what computes: cpu, or the slow reference", &F::kernel, 0, 0, {"cpu", "reference"}, ""},
      {"zeros",
       "logistic: zeros it is fitted to: all, a number of drawn ones for each one, or auto (all of up to four million "
       "cells, else 10 a one)",
       &F::zeros,
       0,
       0,
       {},
       "",
       "logistic"},
      {"ridge",
       "quad, pwquad: weight of the squared factors in what is minimised",
       &F::ridge,
       1e-9,
       huge,
       {},
       "",
       "quad pwquad"},
      {"blocks",
       "pwquad: blocks of cells that have a quadratic bound of their own",
       &F::blocks,
       1,
       65535,
       {},
       "",
       "pwquad"},
  };
}

[[noreturn]] void bad_value(const OptionField& field, const std::string& value, const std::string& allowed) {
  throw Error(ErrorKind::config, fmt::format("{} {}: must be {}", field.flag(), value, allowed));
}

void check_field(const OptionField& field, const FitOptions& options) {
  static const FitOptions untouched;
  const auto in_range = [&](double value, double default_value) {
    if (value == default_value) return;  // it may stand for "follows from other options"
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

const std::vector<OptionField>& fit_option_fields() {
  static const std::vector<OptionField> fields = make_fields();
  return fields;
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

void check_options(const FitOptions& options) {
  learned(options);
  for (const OptionField& field : fit_option_fields()) check_field(field, options);
  check_used(options);
  zeros_per_one_of(options.zeros);
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

std::string options_to_json(const FitOptions& options) {
  nlohmann::ordered_json json;
  for (const OptionField& field : fit_option_fields())
    std::visit([&](auto member) { json[field.name] = options.*member; }, field.member);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

FitOptions options_from_json(const std::string& text) {
  FitOptions options;
  const auto json = nlohmann::json::parse(text);
  for (const OptionField& field : fit_option_fields())
    std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(options.*member)>;
          if (json.contains(field.name))
            options.*member = json.at(field.name).template get<Value>();  // a run may be older than the option
        },
        field.member);
  return options;
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
