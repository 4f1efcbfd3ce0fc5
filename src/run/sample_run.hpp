// What fit, resume and update share: the first files of a run directory, and sampling into it.
#pragma once
#include <string>

#include "run/checkpoint.hpp"
#include "run/ranks.hpp"
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

// Writes the files that are known before sampling: options, status, labels, data, test and watched cells.
void write_initial_files(const std::string& run_dir, const RunInfo& info, const Dataset& data, const TestCells& test);

// Samples from the checkpoints `from`, or from the beginning of chains that have none, to the end or to an
// interruption, and leaves a run directory that can be read. So many chains run at the same time. Then throws the
// exception of a callback, if there was one. The caller holds the lock. ranks: of all processes that make the run, and
// all of them call it; null: this one alone.
FitOutcome sample_run(const OpenRun& run, const ChainMaker& make_chain, std::size_t side_by_side = 1,
                      std::vector<Checkpoint> from = {}, const RunRanks* ranks = nullptr);

// Files that a complete run does not need. They are there if the program was killed before it removed them.
void remove_leftovers(const std::string& run_dir);
bool has_leftovers(const std::string& run_dir);

}  // namespace ztp
