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
       .help = "the model: ztp, or a rival: logistic (Bayesian logistic CP), quad (Quad-App) or pwquad (PW-QuadApp); "
               "see docs/model.md",
       .member = &F::model,
       .models = {}},
      {.name = "rank",
       .help =
           "upper bound R on the number of components. The prior empties those that are not needed (for quad and "
           "pwquad it is their exact number). auto tries 25, 50, 100 and 200 in short chains, and takes the first "
           "that leaves a fifth of the components nearly empty. With --columns it is 20 times the number of columns; "
           "for a rival it is 20",
       .member = &F::rank,
       .range = {1, 100000},
       .default_text = "auto",
       .models = {}},
      {.name = "likelihood",
       .help = "what the file has: binary (a cell is a one or not) or count (the last column is a count)",
       .member = &F::likelihood},
      {.name = "method",
       .help = "batch (exact Gibbs sampling) or online (conditional density filtering, one minibatch per step). Online "
               "is approximate; use it for data that are very large or do not fit into memory",
       .member = &F::method},
      {.name = "columns",
       .help = "components share columns. P: that many for every mode. MODE=P: for one mode. MODE=own: each entity of "
               "a small mode, such as a relation, has columns of its own. Repeat it or give a list: a=40,b=own. auto: "
               "shared columns if modes are tied. Without this option no columns are shared (CP)",
       .member = &F::columns},
      {.name = "tie",
       .help = "MODE=MODE, as subject=object: the two modes have the same entities and share one factor matrix. "
               "Implies --columns auto",
       .member = &F::tie},
      {.name = "self_cells",
       .help =
           "with --tie, cells of an entity with itself: missing (it cannot relate to itself) or zero (it can; cells "
           "that are not listed are zeros). auto: zero if the data contain such a one; otherwise you must choose",
       .member = &F::self_cells},
      {.name = "sweeps",
       .help = "Gibbs sweeps of each chain, burn-in included. With --method online: minibatches. With --until "
               "converged: sweeps before the chains are first checked",
       .member = &F::sweeps,
       .range = {1, many},
       .models = {},
       .may_change = true},
      {.name = "burn_in",
       .help = "sweeps that are thrown away before draws are kept",
       .member = &F::burn_in,
       .range = {0, many},
       .default_text = "half of the sweeps",
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "keep_every",
       .help = "after burn-in, keep the draws of sweeps whose number is a multiple of this",
       .member = &F::keep_every,
       .range = {1, many},
       .default_text = "1 (online 5), doubled until there are no more than --draws",
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "draws",
       .help = "maximum number of draws to keep, over all chains. Fewer are kept if their file would exceed 4 GiB",
       .member = &F::draws,
       .range = {1, most_draws_of_a_run},
       .default_text = "as many as fit into 256 MiB, at least 100 and at most 1000; with --keep-every all of them",
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "until",
       .help = "when to stop: sweeps (after --sweeps) or converged (when the chains agree on predictions: the first "
               "verdict of 'ztp diagnose' is yes or nearly; at the latest after --at-most). The draws are those of a "
               "fit with as many sweeps",
       .member = &F::until,
       .models = {Model::ztp, Model::logistic},
       .may_change = true},
      {.name = "at_most",
       .help = "with --until converged: maximum time to sample, roughly, such as 30s, 10m or 2h. At least 200 sweeps "
               "are always made",
       .member = &F::at_most,
       .models = {Model::ztp, Model::logistic},
       .needs = Need::converged,
       .may_change = true},
      {.name = "chains",
       .help = "number of independent chains. Predictions are averages over them. Several run at the same time if one "
               "alone cannot use all threads",
       .member = &F::chains,
       .range = {1, 1000},
       .default_text = "16 for a batch fit of up to 50000 ones, otherwise 4; never more than --draws",
       .models = {Model::ztp, Model::logistic}},
      {.name = "seed",
       .help = "seed of the random numbers; the same seed gives the same draws",
       .member = &F::seed,
       .range = {0, 1.8446744073709552e19},
       .models = {}},
      {.name = "threads",
       .help = "maximum number of threads, over all chains. The draws do not depend on it",
       .member = &F::threads,
       .range = {1, 1024},
       .default_text = "all cores, fewer if there is little to do",
       .models = {},
       .may_change = true},
      {.name = "sampler",
       .help = "plain (the Gibbs sweep of the paper), collapsed (also moves counts with the parameters integrated out; "
               "mixes better, and samples the rank) or auto (collapsed for up to 50000 ones)",
       .member = &F::sampler},
      {.name = "start",
       .help = "start of a chain: allocation (each one in a random component) or prior (parameters drawn from the "
               "prior, without counts)",
       .member = &F::start},
      {.name = "learn",
       .help = "hyperparameters to infer: dirichlet (one per mode), gamma-shape, or dirichlet,gamma-shape. The values "
               "of --dirichlet and --gamma-shape become the medians of their priors",
       .member = &F::learn},
      {.name = "minibatch",
       .help = "online: number of ones in a minibatch",
       .member = &F::minibatch,
       .range = {1, 1e15},
       .default_text = "a tenth of the ones; for more than ten million ones, at least twice the number of entities",
       .needs = Need::online},
      {.name = "kappa",
       .help = "online: forgetting rate. Step t moves the statistics towards those of its minibatch by a share of (t + "
               "t0)^-kappa",
       .member = &F::kappa,
       .range = {1e-6, 1},
       .needs = Need::online},
      {.name = "t0",
       .help = "online: delay t0 of the forgetting rate; see --kappa",
       .member = &F::t0,
       .range = {0, huge},
       .needs = Need::online},
      {.name = "latent",
       .help = "online: latent counts of a minibatch: sample (drawn), mean (expected counts: more accurate, slower) or "
               "auto (mean for minibatches of up to 50000 ones)",
       .member = &F::latent,
       .needs = Need::online},
      {.name = "parameters",
       .help = "online: parameters used for a minibatch: sample (drawn), mean (expected values: faster) or auto "
               "(sample for minibatches of up to 50000 ones)",
       .member = &F::parameters,
       .needs = Need::online},
      {.name = "inner_draws",
       .help = "online: with --parameters sample, number of draws to average for a minibatch",
       .member = &F::inner_draws,
       .range = {1, 10000},
       .needs = Need::online},
      {.name = "dirichlet",
       .help = "Dirichlet parameter a of the factor columns: A for all modes, or MODE=A (repeatable)",
       .member = &F::dirichlet,
       .default_text = "0.1; with --columns 0.05, and 0.015 for modes of more than 10,000 entities"},
      {.name = "gamma_shape",
       .help = "shape g of the gamma prior of the weights",
       .member = &F::gamma_shape,
       .range = {1e-6, huge}},
      {.name = "beta_concentration",
       .help = "concentration c of the prior p ~ Beta(c eps, c (1 - eps))",
       .member = &F::beta_concentration,
       .range = {1e-6, huge}},
      {.name = "beta_mean",
       .help = "mean eps of the prior p ~ Beta(c eps, c (1 - eps))",
       .member = &F::beta_mean,
       .range = {1e-12, 1 - 1e-12},
       .default_text = "1/R, at most 1/2; with --columns 1/2"},
      {.name = "network_gamma_shape",
       .help = "shape f of the gamma prior of a network's weights",
       .member = &F::network_gamma_shape,
       .range = {1e-6, huge},
       .needs = Need::network},
      {.name = "network_beta_concentration",
       .help = "concentration d of the prior h ~ Beta(d alpha, d (1 - alpha)) of a network",
       .member = &F::network_beta_concentration,
       .range = {1e-6, huge},
       .needs = Need::network},
      {.name = "network_beta_mean",
       .help = "mean alpha of the prior h ~ Beta(d alpha, d (1 - alpha)) of a network",
       .member = &F::network_beta_mean,
       .range = {1e-12, 1 - 1e-12},
       .default_text = "1/R, at most 1/2; with --columns 1/P, at most 1/2",
       .needs = Need::network},
      {.name = "holdout",
       .help = "share of the ones to hold out as test cells, together with random zeros",
       .member = &F::holdout,
       .range = {0, 0.99},
       .models = {}},
      {.name = "zeros_per_one",
       .help = "random zeros for each held-out one",
       .member = &F::zeros_per_one,
       .range = {0, 1e6},
       .models = {},
       .needs = Need::holdout},
      {.name = "test",
       .help = "file of test cells, with a last column 0 or 1, instead of --holdout",
       .member = &F::test,
       .models = {}},
      {.name = "holdout_as",
       .help = "how the fit treats held-out cells: missing (unknown) or zero (as in the paper)",
       .member = &F::holdout_as,
       .models = {},
       .needs = Need::test_cells},
      {.name = "checkpoint",
       .help = "checkpoint interval: a number of sweeps, such as 50, or a time, such as 30s, 10m or 2h",
       .member = &F::checkpoint,
       .models = {},
       .may_change = true},
      {.name = "memory",
       .help = "refuse to start a fit that needs more memory than this, such as 8G or 500M",
       .member = &F::memory,
       .default_text = "the memory of the machine",
       .models = {},
       .may_change = true},
      {.name = "kernel",
       .help = "implementation: cpu, cuda (a GPU), reference (slow and simple) or auto (cuda if there is a GPU and "
               "enough data)",
       .member = &F::kernel},
      {.name = "zeros",
       .help = "logistic: zeros to fit to: all, a number of random zeros per one, or auto (all for up to four million "
               "cells, otherwise 10 per one)",
       .member = &F::zeros,
       .models = {Model::logistic}},
      {.name = "ridge",
       .help = "weight of the squared factors: logistic: the precision of their normal prior; quad, pwquad: their "
               "weight in the objective",
       .member = &F::ridge,
       .range = {1e-9, huge},
       .models = {Model::logistic, Model::quad, Model::pwquad}},
      {.name = "blocks",
       .help = "pwquad: number of blocks of cells; each has its own quadratic bound",
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
      "# Options of `ztp fit`\n\nThis page is generated by `ztp fit --options-markdown`. Do not edit it: the texts are "
      "in "
      "`src/options/fields.cpp`.\n\nThe flags that read data (`--labels`, `--network`, `--missing` and others) are on "
      "[another page](commands.md#input), and `ztp fit --help` has them, too. The column *models* says which models "
      "use an "
      "option.\n\n| flag | default | models | meaning |\n|---|---|---|---|\n";
  for (const OptionField& field : fit_option_fields()) {
    const std::string value = field.default_text.empty() ? field.text({}) : field.default_text;
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.flag(), value.empty() ? "none" : value,
                        field.models.empty() ? "all" : names_of_models(field, " "), field.help);
  }
  return text;
}

}  // namespace ztp
