// The options of a fit. docs/options.md says the same at more length; ranges and help are in ztp/option_fields.hpp.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ztp/choices.hpp"

namespace ztp {

// Options that are choices, and the names of their values in flags and files. `automatic` depends on the data; the
// options of a run have what was decided.
enum class Model { ztp, logistic, quad, pwquad };
enum class Likelihood { binary, count };
enum class Method { batch, online };
enum class Sampler { automatic, plain, collapsed };
enum class Start { allocation, prior };
enum class SampleOrMean { automatic, sample, mean };
enum class HoldoutAs { zero, missing };
enum class SelfCells { automatic, missing, zero };
enum class Until { sweeps, converged };
enum class KernelName { automatic, cpu, cuda, reference };
template <>
inline constexpr auto choice_names<Model> = std::array{"ztp", "logistic", "quad", "pwquad"};
template <>
inline constexpr auto choice_names<Likelihood> = std::array{"binary", "count"};
template <>
inline constexpr auto choice_names<Method> = std::array{"batch", "online"};
template <>
inline constexpr auto choice_names<Sampler> = std::array{"auto", "plain", "collapsed"};
template <>
inline constexpr auto choice_names<Start> = std::array{"allocation", "prior"};
template <>
inline constexpr auto choice_names<SampleOrMean> = std::array{"auto", "sample", "mean"};
template <>
inline constexpr auto choice_names<HoldoutAs> = std::array{"zero", "missing"};
template <>
inline constexpr auto choice_names<SelfCells> = std::array{"auto", "missing", "zero"};
template <>
inline constexpr auto choice_names<Until> = std::array{"sweeps", "converged"};
template <>
inline constexpr auto choice_names<KernelName> = std::array{"auto", "cpu", "cuda", "reference"};

// Some options may be -1, 0 or empty: they are then derived from the others or from the data, as the comment says.
// Letters are as in docs/model.md.
struct FitOptions {
  // The model
  Model model = Model::ztp;  // or a rival
  // R, the upper bound on the number of components; the prior empties those that are not needed. -1: chosen by short
  // chains with 25, 50, 100 and 200; with `columns` 20 times the number of columns; for a rival 20.
  std::int64_t rank = -1;
  Likelihood likelihood = Likelihood::binary;  // or count: the data have counts, not just ones
  Method method = Method::batch;               // or online: one minibatch per step, approximate
  // Columns of the factor matrices, which components share: "P" for all modes (or as many as the mode has entities),
  // "MODE=P" for one, "MODE=own" for one column per entity, or "auto". Empty: CP, in which no columns are shared.
  std::vector<std::string> columns;
  std::vector<std::string> tie;                 // "MODE=MODE": two modes have the same entities and share one matrix
  SelfCells self_cells = SelfCells::automatic;  // cells (i, i) of tied modes: missing or observed zeros

  // The schedule
  std::int64_t sweeps = 500;  // of each chain, burn-in included; online: minibatches
  std::int64_t burn_in = -1;  // sweeps before draws are kept; -1: half of the sweeps
  // After burn-in, the draws of sweeps whose number is a multiple of this are kept. -1: all, or every second, fourth,
  // and so on, so that there are no more than `draws`.
  std::int64_t keep_every = -1;
  // Maximum number of draws to keep, over all chains. -1: as many as fit into 256 MiB, at least 100, at most 1000.
  std::int64_t draws = -1;
  // When to stop: after `sweeps`, or when the chains agree on predictions (converged), at the latest after `at_most`.
  // The chains are then first checked after `sweeps`.
  Until until = Until::sweeps;
  std::string at_most = "1h";  // with converged: 30s, 10m, 2h
  // Independent chains; several run at the same time if one cannot use all threads. -1: 16 for a batch fit of up to
  // 50000 ones, otherwise 4; never more than `draws`.
  std::int64_t chains = -1;
  std::uint64_t seed = 1;    // the same seed gives the same draws
  std::int64_t threads = 0;  // maximum, over all chains; 0: all cores, or fewer if more do not help

  // The sampler (batch)
  Sampler sampler = Sampler::automatic;  // plain, collapsed, or automatic: collapsed for up to 50000 ones
  Start start = Start::allocation;       // each one in a random component; or prior: parameters drawn from the prior
  std::string learn;                     // dirichlet, gamma-shape, or both with a comma between them; empty: nothing

  // Online
  std::int64_t minibatch = -1;  // ones in a minibatch; -1: a tenth of all, or more if there are very many
  double kappa = 0.5;           // step t moves the statistics by a share of (t + t0)^-kappa
  double t0 = 0;                // see kappa
  // Latent counts of a minibatch. automatic: the mean for up to 50000 ones, otherwise a sample.
  SampleOrMean latent = SampleOrMean::automatic;
  // The parameters used for a minibatch. automatic: a sample for up to 50000 ones, otherwise the mean.
  SampleOrMean parameters = SampleOrMean::automatic;
  std::int64_t inner_draws = 1;  // with sampled parameters: draws to average for a minibatch

  // The prior
  // a of the factor columns: "A" for all modes, "MODE=A" for one; empty: 0.1; with `columns` 0.05, and 0.015 for modes
  // of more than 10000 entities.
  std::vector<std::string> dirichlet;
  double gamma_shape = 0.1;               // g of the weights
  double beta_concentration = 1;          // c of p ~ Beta(c eps, c (1 - eps))
  double beta_mean = -1;                  // eps; -1: 1/R, at most 1/2; with `columns` 1/2
  double network_gamma_shape = 0.1;       // f of a network's weights
  double network_beta_concentration = 1;  // d of h ~ Beta(d alpha, d (1 - alpha))
  double network_beta_mean = -1;          // alpha; -1: 1/R, at most 1/2; with `columns` 1/P

  // Held-out test cells, which the chains score while they run
  double holdout = 0;                         // share of the ones
  std::int64_t zeros_per_one = 5;             // random zeros for each of them
  std::string test;                           // instead of holdout: a file of cells with a last column 0 or 1
  HoldoutAs holdout_as = HoldoutAs::missing;  // how the fit treats these cells

  // The machine
  std::string checkpoint = "10m";  // checkpoint interval: 50 (sweeps), 30s, 10m, 2h
  std::string memory;              // a fit that needs more is refused: 8G, 500M; empty: the memory of the machine
  KernelName kernel = KernelName::automatic;  // cpu, cuda, reference (slow), or automatic: cuda if a GPU is worth it

  // The rivals
  std::string zeros = "auto";  // logistic: zeros per one, all, or auto (all for up to four million cells, otherwise 10)
  double ridge = 1;            // all: weight of the squared factors
  std::int64_t blocks = 4096;  // pwquad: blocks of cells, each with its own bound
};

bool is_online(const FitOptions& options);          // method online
bool has_counts(const FitOptions& options);         // likelihood count
bool is_rival(const FitOptions& options);           // any model but ztp
bool shares_columns(const FitOptions& options);     // whether complete options are not CP
bool is_point_estimate(const FitOptions& options);  // fitted by minimising: one point, no posterior

// Throws an Error that names the flag, the value and what is allowed. usage: an option is not at its default but has no
// effect (options that a run fills in are exempt, so that the options of a run can be given again). config: an option
// is out of range or does not fit the others. `networks`: whether the data have networks, as far as is known.
void check_options(const FitOptions& options, bool networks = true);

// The format of options.json of a run. Absent options get their defaults. Error (input), or (config) if a value is out
// of range.
std::string options_to_json(const FitOptions& options);
FitOptions options_from_json(const std::string& json);

}  // namespace ztp
