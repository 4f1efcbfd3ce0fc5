// Everything that a run needs to continue with the same draws. checkpoint-a.bin and checkpoint-b.bin are written in
// turns, so that one of them is always complete. chain-N.bin has the same contents for the end of chain N: more sweeps
// and updates start from it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sampler/chain.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Where the run was, byte for byte as in the file.
struct CheckpointPosition {
  std::uint32_t chain = 0;   // whose state the file has
  std::uint32_t chains = 0;  // that have begun
  double seconds = 0;        // of sampling in this chain
  std::uint64_t draw_log_length = 0, trace_length = 0, cells_length = 0;
  std::uint64_t held_out_draws = 0;
};

struct Checkpoint : CheckpointPosition {
  std::string file;                   // where it was read from; empty: there is none yet
  std::vector<std::uint32_t> sweeps;  // done by each chain; chains that are not listed have not begun
  std::vector<double> held_out_sum;
};

std::string chain_end_file(const std::string& run_dir, std::uint32_t chain);
// Where to write the next one: not over the one that was written last.
std::string next_checkpoint_file(const std::string& run_dir, const std::string& last);

void write_checkpoint(const std::string& file, const RunInfo& info, const Checkpoint& checkpoint, Chain& chain);

// The checkpoint with most sweeps. Damaged ones are skipped and named in `warnings`. Error (input) if all are damaged,
// (config) if it belongs to another run or another version of ztp.
Checkpoint latest_checkpoint(const std::string& run_dir, const RunInfo& info, std::vector<std::string>& warnings);
// Puts a chain back where a checkpoint of it was written, and returns the seconds it had taken. Modes may have grown at
// their ends since.
double restore_chain(const std::string& file, const RunInfo& info, Chain& chain);

// Error (config), if the options that a checkpoint was written with (as JSON) are not those of the run.
void check_options_match(const std::string& path, const std::string& written, const FitOptions& options);

// Error, if chain-N.bin is not the end of this chain after this many sweeps.
void check_chain_end(const std::string& run_dir, const RunInfo& info, std::uint32_t chain, std::uint32_t sweeps);

}  // namespace ztp
