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

// Where -1, 0 or an empty text stands for "follows from the rest", the comment says so. The letters are those of
// docs/model.md.
struct FitOptions {
  // The model
  Model model = Model::ztp;  // or a rival of it
  // R, the most components; a prior empties those that are not needed. -1: short chains with 25, 50, 100 and 200 tell
  // how many are enough; with `columns` 20 times the columns; of a rival 20
  std::int64_t rank = -1;
  Likelihood likelihood = Likelihood::binary;  // or count: the data have counts instead of ones
  Method method = Method::batch;               // or online: a minibatch a step, approximate
  // Columns of the factor matrices, which components share: "P" for all modes (or as many as there are entities),
  // "MODE=P" for one; "MODE=own" for a column for each entity; "auto". Empty: CP, where no column is shared.
  std::vector<std::string> columns;
  std::vector<std::string> tie;           // "MODE=MODE": two modes with the same entities share one matrix
  SelfCells self = SelfCells::automatic;  // cells (i, i) of tied modes: missing, or zeros that were observed

  // The schedule
  std::int64_t sweeps = 500;  // of each chain, burn-in included; online: minibatches
  std::int64_t burn_in = -1;   // sweeps before the first draw that is kept; -1: half of them
  // Draws are kept in the sweeps after burn-in that are multiples of this; -1: all, or every second, fourth, ..., so
  // that there are no more than `draws`.
  std::int64_t keep_every = -1;
  // Most draws to keep, of all chains together; -1: as many as take 256 MiB, 100 to 1000.
  std::int64_t draws = -1;
  // Or converged: go on until the chains agree on predictions, or for as long as at_most says. `sweeps` is then after how
  // many they are judged first.
  Until until = Until::sweeps;
  std::string at_most = "1h";  // until converged: 30s, 10m, 2h
  // Independent ones; several run at a time where one cannot use all threads. -1: 16 for a batch fit of up to 50000
  // ones, else 4; never more than `draws`.
  std::int64_t chains = -1;
  std::uint64_t seed = 1;      // every draw is a function of it
  std::int64_t threads = 0;    // most to use, all chains together; 0: as many cores as are of use

  // The sampler (batch)
  Sampler sampler = Sampler::automatic;  // plain, collapsed, or automatic: collapsed for up to 50000 ones
  Start start = Start::allocation;       // each one in a random component; or prior: parameters drawn from it
  std::string learn;                     // dirichlet, gamma-shape or both with a comma between; empty: nothing

  // Online
  std::int64_t minibatch = -1;  // ones in a minibatch; -1: a tenth of all, more of very many
  double kappa = 0.5;           // step t goes (t + t0)^-kappa of the way
  double t0 = 0;                // see kappa
  // Latent counts of a minibatch; automatic: the mean for up to 50000 ones, else a sample.
  SampleOrMean latent = SampleOrMean::automatic;
  // The parameters that they are drawn with; automatic: a sample for up to 50000 ones, else the mean.
  SampleOrMean parameters = SampleOrMean::automatic;
  std::int64_t inner_draws = 1;  // draws that are averaged for a minibatch, where parameters are a sample

  // The prior
  // a of the factor columns: "A" for all modes, "MODE=A" for one; empty: 0.1, or with `columns` 0.05 and for modes of
  // more than 10000 entities 0.015
  std::vector<std::string> dirichlet;
  double gamma_shape = 0.1;               // g of the weights
  double beta_concentration = 1;          // c of p ~ Beta(c eps, c (1 - eps))
  double beta_mean = -1;                  // eps; -1: 1/R, at most 1/2; with `columns` 1/2
  double network_gamma_shape = 0.1;       // f of a network's weights
  double network_beta_concentration = 1;  // d of h ~ Beta(d alpha, d (1 - alpha))
  double network_beta_mean = -1;          // alpha; -1: 1/R, at most 1/2; with `columns` 1/P

  // What is held out, and followed while the chains run
  double holdout = 0;                         // share of the ones
  std::int64_t zeros_per_one = 5;             // zeros drawn for each of them
  std::string test;                           // or else a file of cells with a last column 0 or 1
  HoldoutAs holdout_as = HoldoutAs::missing;  // what these cells are to the fit

  // The machine
  std::string checkpoint = "10m";       // checkpoint interval: 50 (sweeps), 30s, 10m, 2h
  std::string memory;                   // a fit that needs more is refused: 8G, 500M; empty: what the machine has
  KernelName kernel = KernelName::automatic;  // cpu, or cuda where a GPU is worth it; reference: the slow one

  // The rivals
  std::string zeros = "auto";  // logistic: zeros for each one, all, or auto: all of up to four million cells, else 10
  double ridge = 1;            // quad, pwquad: weight of the squared factors
  std::int64_t blocks = 4096;  // pwquad: blocks of cells with a bound of their own
};

bool is_online(const FitOptions& options);          // method online
bool has_counts(const FitOptions& options);         // likelihood count
bool is_rival(const FitOptions& options);           // any model but ztp
bool shares_columns(const FitOptions& options);     // of complete options: not CP
bool is_point_estimate(const FitOptions& options);  // fitted by minimising: one point, no posterior

// Throws an Error that names the flag, the value and what is allowed: usage, if an option that is not at its default
// has no effect (but for those that a run fills in, whose options may thus be given again); config, if it is out of
// range or does not go with the others. `networks`: whether the data have any, as far as is known.
void check_options(const FitOptions& options, bool networks = true);

// As in options.json of a run. What is absent gets its default. Error (input), or (config) where a value is out of
// range.
std::string options_to_json(const FitOptions& options);
FitOptions options_from_json(const std::string& json);

}  // namespace ztp
