// Fitting: from data and options to a run directory.
#pragma once
#include <functional>
#include <string>

#include "ztp/options.hpp"
#include "ztp/progress.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Reads the data as a fit with these options needs them: with counts or not, online left in their tensor file, with as
// many threads, and not beyond --memory. What `read` says of counts, stream, threads and memory is not looked at.
// Errors as of read_dataset(read); config, if options.memory is no size.
Dataset read_dataset(const ReadOptions& read, const FitOptions& options);

// What a fit calls, where it is set, in the thread that called it and in no other. Where chains run side by side, their
// sweeps are told a moment later. An exception that one of them throws ends the run as
// stop_requested does, and is thrown by fit, resume or update when the run directory is in order. After
// the last sweep it changes nothing of a fit, which is complete then; an update is dropped. While the rank is being
// chosen there is nothing to save: it is thrown at once.
struct FitCallbacks {
  std::function<void(const SweepReport&)> on_sweep;     // after every sweep
  std::function<void(const RankTrial&)> on_rank_trial;  // after every sweep of the chains of --rank auto
  std::function<bool()> stop_requested;                 // asked between sweeps; true ends the run with a checkpoint
  std::function<void(const std::string&)> on_message;   // what was decided, as the rank, before the first sweep
  std::function<void(const std::string&)> on_warning;   // something odd that does no harm
  std::string command;                                  // what was typed, for the record
};

// How a fit ended.
enum class FitOutcome {
  complete,
  interrupted,  // stop_requested said so; resume goes on
  not_begun,    // stop_requested said so while the rank was being chosen: there is no run directory
};

// Makes the directory run_dir (which must not exist, unless replace) and fills it; Posterior reads it back. Errors: of
// check_options; config, if the options do not fit the data, or the fit does not fit into memory; numeric, if a number
// goes bad; io.
FitOutcome fit(Dataset data, const FitOptions& options, const std::string& run_dir, const FitCallbacks& callbacks = {},
               bool replace = false);

// The check that fit makes of run_dir, for those who would rather know before they read their data: Error (config) if
// it exists and may not be replaced. Only a run directory or an empty one is ever replaced.
void check_run_dir(const std::string& run_dir, bool replace);

// What of a run's options may change when it goes on.
struct ResumeOptions {
  // Of each chain in all, if more than before; burn-in, thinning and draws become those of a fit of as many sweeps, but
  // for what was given. 0: as before.
  std::int64_t sweeps = 0;
  unsigned threads = 0;    // 0: as before
  std::string checkpoint;  // empty: as before
  std::string memory;      // empty: what the machine has
};

// Goes on from the last checkpoint of a run that was interrupted or killed, to the same draws as without that; from its
// beginning, if there is no checkpoint yet. Of a run that is complete nothing is to be done, unless it is asked for
// more sweeps. Error (config), if the run is of another version of ztp, or has been updated; (input), if it is damaged.
FitOutcome resume(const std::string& run_dir, const FitCallbacks& callbacks = {}, const ResumeOptions& options = {});

}  // namespace ztp
