// The record of a run (options.json and status.json).
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ztp/options.hpp"
#include "ztp/progress.hpp"

namespace ztp {

// Why --rank auto stopped where it did: enough components stay nearly empty; it tries no more; there is no memory for
// more.
enum class RankStop { enough, most, memory };
template <>
inline constexpr auto choice_names<RankStop> = std::array{"enough", "most", "memory"};

// How --rank auto came to the rank of a run.
struct RankChoice {
  std::vector<RankTrial> trials;  // the last of them is of the rank; empty: the rank was not chosen so
  RankStop stop = RankStop::enough;
};

// What options.json and status.json of a run say.
struct RunInfo {
  // options.json: written once, when the fit begins
  std::string version;      // of the ztp that made the run
  std::string command;      // what was typed; of C++, FitCallbacks::command
  std::string created;      // UTC, ISO 8601
  std::string fingerprint;  // of the training data, 16 hex digits
  FitOptions options;       // every default filled in
  RankChoice rank_choice;   // how the rank was chosen, if it was
  struct ModeInfo {
    std::string name;
    std::uint32_t size = 0;  // entities
    bool numbered = false;   // labels are the numbers first, first + 1, ...; else labels/NAME.txt has them
    std::uint32_t first = 0;
    double dirichlet = 0;              // a_k; where it is learned, the median of its prior
    std::uint32_t missing_slices = 0;  // all of whose cells are missing
  };
  std::vector<ModeInfo> modes;
  // One network.
  struct NetworkInfo {
    std::uint32_t mode = 0;           // among whose entities it is, from 0
    std::string source;               // the file that it was read from
    std::uint64_t edges = 0;          // without self-loops, each once
    std::uint64_t missing_pairs = 0;  // listed
  };
  std::vector<NetworkInfo> networks;
  std::uint64_t ones = 0;           // training ones
  std::string ones_file;            // a tensor file, the first of whose ones these are; empty: data.bin has them
  std::uint64_t ones_in_file = 0;   // how many of it; data.bin has the others
  std::uint64_t total_count = 0;    // with counts, their sum
  std::uint64_t missing_cells = 0;  // listed, outside missing slices
  std::uint64_t test_ones = 0;      // held-out cells, in test.tsv
  std::uint64_t test_zeros = 0;
  std::uint64_t training_zeros = 0;  // of a logistic fit: how many it is fitted to
  double zeros_used = 0;             // and what part of all zeros that is; 1: all of them
  std::uint32_t updates = 0;         // times that 'ztp update' has added data
  // Which of these were asked for; the others follow from the number of sweeps, and change with it.
  bool burn_in_given = true, keep_every_given = true, draws_given = true;
  std::int64_t sweeps_asked = 0;  // when the fit began; `options` has what is asked for by now

  // status.json: written at every checkpoint and at the end
  std::uint32_t keep_every = 0;   // draws are kept in multiples of it
  std::uint32_t watch_every = 0;  // the watched cells are looked at in multiples of it
  std::string status;  // "running", "interrupted", "complete"; "killed", if it says running and no process is
  std::string ended;   // of a run that is complete and was to go on until converged: "converged", or "time"
  double seconds = 0;  // of sampling so far, by the clock: chains at the same time count once
  std::uint64_t draws_planned = 0;  // with as many sweeps as by now are asked for: those of `options` are these
  struct ChainStatus {
    std::uint32_t sweeps = 0;      // done
    double seconds = 0;            // of sampling
    double log_likelihood = NAN;   // of the last sweep for which it was computed; NaN if it never was, as in an update
    std::size_t occupied = 0;      // components that the ones use, of the last sweep
    double occupied_mean = NAN;    // over kept draws; NaN without any
    std::size_t network_only = 0;  // components that only networks use, of the last sweep
  };
  std::vector<ChainStatus> chains;
  // The posterior of the number of occupied components, over the kept draws of all chains: number and probability.
  std::vector<std::pair<std::size_t, double>> rank;
  std::vector<std::pair<std::string, double>> learned;  // hyperparameters that were learned: name and posterior mean
  std::uint64_t draws = 0;                              // kept so far
  std::uint64_t peak_memory = 0;                        // bytes, of the first process
  std::uint64_t processes = 1;                          // that sampled last
  double busiest = 1;          // most ones of a process / their mean over processes, if several share a chain
  double bytes_per_sweep = 0;  // sent between all processes for a sweep of a chain
  double auc_roc = NAN;        // of the held-out cells, posterior mean so far; NaN if not followed
};

// Reads both files. Error (input), if the directory is not a run or one of them is damaged.
RunInfo run_info(const std::string& run_dir);
// Both files as one object, the keys as there.
std::string run_info_as_json(const RunInfo& info);

// What --rank auto chose and why, in words. Not of an empty choice.
std::string rank_choice_text(const RankChoice& choice);
// How a fit that was to go on until its chains agree has ended, in words. Empty for other fits.
std::string ended_text(const RunInfo& info);

}  // namespace ztp
