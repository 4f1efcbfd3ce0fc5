// Fitting: from data and options to a run directory.
#pragma once
#include <functional>
#include <string>

#include "ztp/options.hpp"
#include "ztp/progress.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Reads the data as a fit with these options needs them: with or without counts, left in the tensor file if online,
// with the same threads, and within --memory. The fields counts, stream, threads and memory of `read` are ignored.
// For a fit by several processes, with its run_dir, the ones need not fit into memory: they are sorted and kept in
// files without names beside that directory. Errors: those of read_dataset(read); config, if options.memory is not a
// size.
Dataset read_dataset(const ReadOptions& read, const FitOptions& options, const std::string& run_dir = {});

// Functions that a fit calls if they are set. They run in the thread that called fit, and in no other. If chains run
// side by side, their sweeps are reported a moment later. If a function throws, the run ends as with stop_requested;
// fit, resume or update then rethrows the exception once the run directory is consistent. An exception after the last
// sweep does not change a fit, which is complete by then, but drops an update. While the rank is being chosen there is
// nothing to save, so the exception is rethrown at once.
struct FitCallbacks {
  std::function<void(const SweepReport&)> on_sweep;     // after every sweep
  std::function<void(const RankTrial&)> on_rank_trial;  // after every sweep of the chains of --rank auto
  std::function<bool()> stop_requested;                 // asked between sweeps; true ends the run with a checkpoint
  std::function<void(const std::string&)> on_message;   // decisions before the first sweep, such as the rank
  std::function<void(const std::string&)> on_warning;   // something odd but harmless
  std::string command;                                  // the command line, for the record
};

// How a fit ended.
enum class FitOutcome {
  complete,
  interrupted,  // stop_requested said so; resume continues
  not_begun,    // stop_requested said so while the rank was being chosen: there is no run directory
};

// Creates the directory run_dir, which must not exist unless `replace`, and fills it. Posterior reads it. Errors: those
// of check_options; config, if the options do not fit the data or the fit does not fit into memory; numeric, if a
// number is no longer finite; io.
FitOutcome fit(Dataset data, const FitOptions& options, const std::string& run_dir, const FitCallbacks& callbacks = {},
               bool replace = false);

// The check that fit makes of run_dir, for callers who want to know before they read their data. Error (config) if it
// exists and may not be replaced. Only a run directory or an empty directory is ever replaced.
void check_run_dir(const std::string& run_dir, bool replace);

// The options that may change when a run is resumed.
struct ResumeOptions {
  // New total for each chain, if larger than before. Burn-in, thinning and draws become those of a fit with as many
  // sweeps, unless they were given. 0: as before.
  std::int64_t sweeps = 0;
  unsigned threads = 0;    // 0: as before
  std::string checkpoint;  // empty: as before
  std::string memory;      // empty: the memory of the machine
};

// Continues a run that was interrupted or killed from its last checkpoint, or from the beginning if there is none. The
// draws are the same as without the interruption. For a complete run there is nothing to do, unless more sweeps are
// requested. Error (config), if the run was made by a version of ztp that this one does not continue, or has been
// updated; (input), if it is damaged.
FitOutcome resume(const std::string& run_dir, const FitCallbacks& callbacks = {}, const ResumeOptions& options = {});

}  // namespace ztp
