// What fit, resume and update share: making a run directory, and sampling into it.
#pragma once
#include <string>

#include "run/checkpoint.hpp"
#include "sampler/run_chains.hpp"
#include "ztp/fit.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// A run that is being made, and what goes into it.
struct OpenRun {
  std::string dir;
  const Dataset& data;
  const TestCells& test;
  RunInfo& info;
  const FitCallbacks& callbacks;
};

RunInfo describe_run(const Dataset& data, const FitOptions& complete, const TestCells& test,
                     const std::string& command);

// Fills a new run directory with everything that is known before sampling.
void begin_run_dir(const std::string& run_dir, const RunInfo& info, const Dataset& data, const TestCells& test);

// Samples from `from` on, to the end or to an interruption, and leaves a run directory that can be read; then throws
// what a callback has thrown. The caller has the lock.
FitOutcome sample_run(const OpenRun& run, const ChainMaker& make_chain, const Checkpoint& from = {});

// What a run that is complete does not need: a kill may have come before it was removed.
void remove_leftovers(const std::string& run_dir);
bool has_leftovers(const std::string& run_dir);

}  // namespace ztp
