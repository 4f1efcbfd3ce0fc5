#include <fmt/format.h>

#include <algorithm>

#include "options/options.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

constexpr double many = 4294967295.0;
constexpr double huge = 1e9;
constexpr double most_draws_of_a_run = 1e6;

std::vector<OptionField> make_fields() {
  using F = FitOptions;
  return {
      {.name = "model",
       .help = "ztp, or a rival of it: logistic (Bayesian logistic CP), quad (Quad-App) or pwquad (PW-QuadApp); see "
               "docs/model.md",
       .member = &F::model,
       .models = {}},
      {.name = "rank",
       .help = "upper bound R on the number of components; a prior empties those that are not needed (quad, pwquad: "
               "their number). auto tries 25, 50, 100 and 200 in short chains, until a fifth of the components stays "
               "nearly empty; with --columns it is 20 times the columns, for a rival 20",
       .member = &F::rank,
       .range = {1, 100000},
       .default_text = "auto",
       .models = {}},
      {.name = "likelihood",
       .help = "what a cell is: binary (a one or not) or count (last column of the file)",
       .member = &F::likelihood},
      {.name = "method",
       .help = "batch (exact Gibbs sampling) or online (conditional density filtering: approximate, a minibatch a "
               "step, for data that are large or do not fit into memory)",
       .member = &F::method},
      {.name = "columns",
       .help =
           "components share columns: a number P for every mode, or MODE=P for one; MODE=own gives each entity of a "
           "small mode, as a relation, columns of its own (repeatable, or a list: a=40,b=own). auto shares columns "
           "if modes are tied. Without it: CP, in which no column is shared",
       .member = &F::columns},
      {.name = "tie",
       .help = "MODE=MODE: these two modes have the same entities, as subject and object do, and share one matrix of "
               "factors; implies --columns auto",
       .member = &F::tie},
      {.name = "self",
       .help = "with --tie, cells of an entity with itself: missing (it cannot relate to itself) or zero (it could; "
               "those not listed are zeros). auto: zero if the data have such a one, else you must say",
       .member = &F::self},
      {.name = "sweeps",
       .help =
           "Gibbs sweeps of each chain, burn-in included; with --method online, minibatches; with --until converged, "
           "after how many the chains are judged for the first time",
       .member = &F::sweeps,
       .range = {1, many},
       .models = {},
       .may_change = true},
      {.name = "burn_in",
       .help = "sweeps thrown away before draws are kept",
       .member = &F::burn_in,
       .range = {0, many},
       .default_text = "half of the sweeps",
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "keep_every",
       .help = "draws are kept in the sweeps after burn-in that are multiples of this",
       .member = &F::keep_every,
       .range = {1, many},
       .default_text = "1 (online 5), doubled until there are no more than --draws",
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "draws",
       .help = "most draws to keep, all chains together; fewer are kept where their file would pass 4 GiB",
       .member = &F::draws,
       .range = {1, most_draws_of_a_run},
       .default_text = "as many as take 256 MiB, but at least 100 and at most 1000; with --keep-every all of them",
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "until",
       .help = "sweeps (as many as --sweeps says) or converged: go on until the chains agree on predictions (the first "
               "verdict of 'ztp diagnose' is yes or nearly), or until --at-most is over; the draws are those of a fit "
               "of that many sweeps",
       .member = &F::until,
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "at_most",
       .help =
           "with --until converged: about how long to sample at most, as 30s, 10m or 2h; 200 sweeps are made in any "
           "case",
       .member = &F::at_most,
       .models = {Model::ztp, Model::logistic},
       .needs = Need::converged,
       .may_change = true},
      {.name = "chains",
       .help = "independent chains, averaged in predictions; several run at the same time where one alone cannot use "
               "all threads",
       .member = &F::chains,
       .range = {1, 1000},
       .default_text = "16 for a batch fit of up to 50000 ones, else 4; never more than --draws",
       .models = {Model::ztp, Model::logistic}},
      {.name = "seed",
       .help = "every draw is a function of it",
       .member = &F::seed,
       .range = {0, 1.8446744073709552e19},
       .models = {}},
      {.name = "threads",
       .help = "most threads to use, all chains together; the draws do not depend on their number",
       .member = &F::threads,
       .range = {1, 1024},
       .default_text = "all cores, fewer where there is little to do",
       .models = {},
       .may_change = true},
      {.name = "sampler",
       .help =
           "plain (the paper's Gibbs sweep), collapsed (which then moves counts with the parameters integrated out: "
           "better mixing, and the rank is drawn) or auto (collapsed for up to 50000 ones)",
       .member = &F::sampler},
      {.name = "start",
       .help = "where a chain begins: allocation (each one in a random component) or prior (parameters drawn with no "
               "counts at all)",
       .member = &F::start},
      {.name = "learn",
       .help = "hyperparameters to draw with the rest: dirichlet (one for each mode), gamma-shape, or "
               "dirichlet,gamma-shape; the values of --dirichlet and of the gamma shapes become the medians of their "
               "priors",
       .member = &F::learn},
      {.name = "minibatch",
       .help = "online: ones in a minibatch",
       .member = &F::minibatch,
       .range = {1, 1e15},
       .default_text = "a tenth of the ones; of more than ten million ones, at least twice the entities",
       .needs = Need::online},
      {.name = "kappa",
       .help = "online: step t moves the statistics by (t + t0)^-kappa of the way to what its minibatch says",
       .member = &F::kappa,
       .range = {1e-6, 1},
       .needs = Need::online},
      {.name = "t0", .help = "online: see --kappa", .member = &F::t0, .range = {0, huge}, .needs = Need::online},
      {.name = "latent",
       .help = "online: latent counts of a minibatch, sample (drawn), mean (their expectations: more accurate, slower) "
               "or auto (mean for minibatches of up to 50000 ones)",
       .member = &F::latent,
       .needs = Need::online},
      {.name = "parameters",
       .help = "online: parameters a minibatch is looked at with, sample (draws), mean (their expectations: faster) or "
               "auto (sample for minibatches of up to 50000 ones)",
       .member = &F::parameters,
       .needs = Need::online},
      {.name = "inner_draws",
       .help = "online: with --parameters sample, draws that are averaged for a minibatch",
       .member = &F::inner_draws,
       .range = {1, 10000},
       .needs = Need::online},
      {.name = "dirichlet",
       .help = "Dirichlet parameter a of the factor columns: A for all modes, or MODE=A (repeatable)",
       .member = &F::dirichlet,
       .default_text = "0.1; with --columns 0.05, for modes of more than 10,000 entities 0.015"},
      {.name = "gamma_shape",
       .help = "shape g of the gamma prior of the weights",
       .member = &F::gamma_shape,
       .range = {1e-6, huge}},
      {.name = "beta_concentration",
       .help = "c of the prior p ~ Beta(c eps, c (1 - eps))",
       .member = &F::beta_concentration,
       .range = {1e-6, huge}},
      {.name = "beta_mean",
       .help = "eps of the same prior",
       .member = &F::beta_mean,
       .range = {1e-12, 1 - 1e-12},
       .default_text = "1/R, at most 1/2; with --columns 1/2"},
      {.name = "network_gamma_shape",
       .help = "shape f of the gamma prior of a network's weights",
       .member = &F::network_gamma_shape,
       .range = {1e-6, huge},
       .needs = Need::network},
      {.name = "network_beta_concentration",
       .help = "d of the prior h ~ Beta(d alpha, d (1 - alpha))",
       .member = &F::network_beta_concentration,
       .range = {1e-6, huge},
       .needs = Need::network},
      {.name = "network_beta_mean",
       .help = "alpha of the same prior",
       .member = &F::network_beta_mean,
       .range = {1e-12, 1 - 1e-12},
       .default_text = "1/R, at most 1/2; with --columns 1/P, at most 1/2",
       .needs = Need::network},
      {.name = "holdout",
       .help = "share of the ones to hold out and follow, with drawn zeros beside them",
       .member = &F::holdout,
       .range = {0, 0.99},
       .models = {}},
      {.name = "zeros_per_one",
       .help = "zero cells drawn for each held-out one",
       .member = &F::zeros_per_one,
       .range = {0, 1e6},
       .models = {},
       .needs = Need::holdout},
      {.name = "test",
       .help = "file of cells with a last column 0 or 1 to follow instead of a drawn hold-out",
       .member = &F::test,
       .models = {}},
      {.name = "holdout_as",
       .help = "what held-out cells are to the fit: missing (unknown) or zero (as in the paper)",
       .member = &F::holdout_as,
       .models = {},
       .needs = Need::test_cells},
      {.name = "checkpoint",
       .help = "checkpoint interval: a number of sweeps, as 50, or a time, as 30s, 10m or 2h",
       .member = &F::checkpoint,
       .models = {},
       .may_change = true},
      {.name = "memory",
       .help = "refuse to begin a fit that needs more than this, as 8G or 500M",
       .member = &F::memory,
       .default_text = "what the machine has",
       .models = {},
       .may_change = true},
      {.name = "kernel",
       .help = "implementation: cpu, cuda (a GPU), the slow reference, or auto: cuda if there is a GPU and enough data",
       .member = &F::kernel},
      {.name = "zeros",
       .help = "logistic: zeros it is fitted to: all, a number of drawn ones for each one, or auto (all of up to four "
               "million cells, else 10 a one)",
       .member = &F::zeros,
       .models = {Model::logistic}},
      {.name = "ridge",
       .help = "quad, pwquad: weight of the squared factors in what is minimised",
       .member = &F::ridge,
       .range = {1e-9, huge},
       .models = {Model::quad, Model::pwquad}},
      {.name = "blocks",
       .help = "pwquad: blocks of cells that have a quadratic bound of their own",
       .member = &F::blocks,
       .range = {1, 65535},
       .models = {Model::pwquad}},
  };
}

}  // namespace

const std::vector<OptionField>& fit_option_fields() {
  static const std::vector<OptionField> fields = make_fields();
  return fields;
}

const OptionField& fit_option_field(const std::string& name) {
  const std::vector<OptionField>& fields = fit_option_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const OptionField& field) { return field.name == name; });
  if (found == fields.end()) throw Error(ErrorKind::usage, fmt::format("there is no option \"{}\"", name));
  return *found;
}

std::string OptionField::flag() const {
  std::string text = "--" + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::vector<std::string> OptionField::choices() const {
  const auto names = []<class Value>(Value FitOptions::*) {
    return std::vector<std::string>(choice_names<Value>.begin(), choice_names<Value>.end());
  };
  return std::visit(names, member);
}

void OptionField::choose(FitOptions& options, const std::string& value_name) const {
  const auto choose = [&]<class Value>(Value FitOptions::*at) {
    if constexpr (std::is_enum_v<Value>)
      if (const std::optional<Value> value = choice_named<Value>(value_name)) {
        options.*at = *value;
        return;
      }
    throw Error(ErrorKind::config,
                fmt::format("{} {}: must be one of: {}", flag(), value_name, fmt::join(choices(), ", ")));
  };
  std::visit(choose, member);
}

bool OptionField::used_by(Model model) const {
  return models.empty() || std::find(models.begin(), models.end(), model) != models.end();
}

bool OptionField::is_filled_in() const {
  static const FitOptions untouched;
  return !default_text.empty() || text(untouched) == "auto";
}

bool OptionField::is_changed(const FitOptions& options) const {
  static const FitOptions untouched;
  return std::visit([&](auto at) { return options.*at != untouched.*at; }, member);
}

std::string OptionField::text(const FitOptions& options) const {
  const auto text = [&]<class Value>(Value FitOptions::*at) -> std::string {
    if constexpr (std::is_same_v<Value, std::vector<std::string>>)
      return fmt::format("{}", fmt::join(options.*at, " "));
    else if constexpr (std::is_enum_v<Value>)
      return name_of(options.*at);
    else
      return fmt::format("{}", options.*at);
  };
  return std::visit(text, member);
}

std::string names_of_models(const OptionField& field, const char* separator) {
  std::vector<std::string> names;
  for (const Model model : field.models) names.push_back(name_of(model));
  return fmt::format("{}", fmt::join(names, separator));
}

std::string options_as_markdown() {
  std::string text =
      "# Options of `ztp fit`\n\nMade by `ztp fit --options-markdown` from the one list that the flags, the checks "
      "and\n"
      "`options.json` come from.\n\n| flag | default | models | meaning |\n|---|---|---|---|\n";
  for (const OptionField& field : fit_option_fields()) {
    const std::string value = field.default_text.empty() ? field.text({}) : field.default_text;
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.flag(), value.empty() ? "none" : value,
                        field.models.empty() ? "all" : names_of_models(field, " "), field.help);
  }
  return text;
}

}  // namespace ztp
