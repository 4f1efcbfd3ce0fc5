// Everything a run needs to go on to the same draws. checkpoint-a.bin and checkpoint-b.bin are written in turns, so
// that there is always a whole one; chain-N.bin is the same, of the end of chain N: for more sweeps, and for updates.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sampler/chain.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

struct Checkpoint {
  std::string file;                   // where it was read from; empty: there is none yet
  std::uint32_t chain = 0;            // whose state the file has
  std::vector<std::uint32_t> sweeps;  // that were done of each chain; none of those that are not there
  double seconds = 0;                 // of sampling in this chain
  std::uint64_t draw_log_length = 0;
  std::uint64_t trace_length = 0;
  std::uint64_t cells_length = 0;
  std::uint64_t held_out_draws = 0;
  std::vector<double> held_out_sum;
};

std::string chain_end_file(const std::string& run_dir, std::uint32_t chain);
// Where to write the next one: not over the one that was written last.
std::string next_checkpoint_file(const std::string& run_dir, const std::string& last);

void write_checkpoint(const std::string& file, const RunInfo& info, const Checkpoint& checkpoint, Chain& chain);

// The one with most sweeps. Those that are damaged are passed over and named in `warnings`; an Error (input) if all
// are. Error (config) if it does not belong to this run or this program.
Checkpoint latest_checkpoint(const std::string& run_dir, const RunInfo& info, std::vector<std::string>& warnings);
// Puts a chain back where a checkpoint of it was written, and returns the seconds it had taken. Modes may have grown at
// their ends since.
double restore_chain(const std::string& file, const RunInfo& info, Chain& chain);

// Error, if chain-N.bin is not that of the end of this chain after so many sweeps.
void check_chain_end(const std::string& run_dir, const RunInfo& info, std::uint32_t chain, std::uint32_t sweeps);

void remove_checkpoints(const std::string& run_dir);  // but not the chains' ends

}  // namespace ztp
