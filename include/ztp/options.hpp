// The options of a fit. This struct and the one list of its fields (src/run/option_fields.cpp) are where the flags, the checks, the
// echo in the run directory and docs/options.md all come from.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ztp {

struct FitOptions {
  std::string model = "ztp";
  std::int64_t rank = 20;
  std::string likelihood = "binary";
  std::string method = "batch";
  std::int64_t sweeps = 1000;
  std::int64_t burn_in = -1;
  std::int64_t keep_every = -1;
  std::int64_t draws = 100;
  std::int64_t chains = 1;
  std::uint64_t seed = 1;
  std::int64_t threads = 0;
  std::string sampler = "auto";
  std::string start = "allocation";
  std::string learn;
  std::int64_t minibatch = -1;
  double kappa = 0.5;
  double t0 = 0;
  std::string latent = "auto";
  std::string parameters = "auto";
  std::int64_t inner_draws = 1;
  std::vector<std::string> dirichlet = {"0.1"};
  double gamma_shape = 0.1;
  double beta_concentration = 1;
  double beta_mean = -1;
  double network_gamma_shape = 0.1;
  double network_beta_concentration = 1;
  double network_beta_mean = -1;
  double holdout = 0;
  std::int64_t zeros_per_one = 5;
  std::string test;
  std::string holdout_as = "zero";
  std::string checkpoint = "10m";
  std::string memory;
  std::string kernel = "cpu";
  std::string zeros = "auto";
  double ridge = 1;
  std::int64_t blocks = 4096;
};

struct OptionField {
  using Member = std::variant<std::int64_t FitOptions::*, std::uint64_t FitOptions::*, double FitOptions::*,
                              std::string FitOptions::*, std::vector<std::string> FitOptions::*>;
  std::string name;  // "burn_in"; the flag is --burn-in
  std::string help;
  Member member;
  double smallest = 0;  // numbers: the allowed range
  double largest = 0;
  std::vector<std::string> choices;  // strings: the allowed values, if only some are
  std::string default_text;          // where the default follows from other options
  std::string models = "ztp";        // those that use it, separated by blanks; empty: all

  std::string flag() const;
  bool used_by(const std::string& model) const;
};

const std::vector<OptionField>& fit_option_fields();
// What to say of one that the model does not use.
std::string not_used(const OptionField& field, const std::string& model);

// What --learn names.
struct Learned {
  bool dirichlet = false;
  bool gamma_shape = false;
};
Learned learned(const FitOptions& options);

// Whether the model is fitted by minimising: one point, no posterior.
bool is_point_estimate(const FitOptions& options);

// Error (config), if there is no such model.
void check_model(const FitOptions& options);
// Throws Error (config) that names the flag, the value and what is allowed.
void check_options(const FitOptions& options);
// Throws if an option that was given is out of range: the value that stands for a default is not to be given.
void check_given(const OptionField& field, const FitOptions& options);
// Each of them alone, not whether they go together: that also holds for the completed options of a run.
void check_option_ranges(const FitOptions& options);

std::string options_to_json(const FitOptions& options);
FitOptions options_from_json(const std::string& json);  // Error (input), or (config) where a value is out of range
std::string options_as_markdown();  // docs/options.md

}  // namespace ztp
