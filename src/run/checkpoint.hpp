// Everything that a chain needs to continue with the same draws. checkpoint-N-a.bin and checkpoint-N-b.bin of chain N
// are written in turns, so that one of them is always complete. chain-N.bin has the same contents for its end: more
// sweeps and updates start from it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sampler/chain.hpp"
#include "sampler/held_out.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Where a chain was, byte for byte as in the file.
struct CheckpointPosition {
  std::uint32_t chain = 0;   // from 0
  std::uint32_t sweeps = 0;  // done
  double seconds = 0;        // of sampling
  // The sums of the held-out cells: over so many draws, those that are kept by this schedule.
  std::uint64_t held_out_draws = 0;
  std::uint32_t burn_in = 0, keep_every = 0;
};

struct Checkpoint : CheckpointPosition {
  std::string file;  // where it is; empty: the chain has none yet
};

std::string chain_end_file(const std::string& run_dir, std::uint32_t chain);
// Where to write the next one: not over the one that was written last.
std::string next_checkpoint_file(const std::string& run_dir, std::uint32_t chain, const std::string& last);
bool is_checkpoint_file(const std::string& name);  // and not the end of a chain

// `held_out`: null, if there are no such cells.
void write_checkpoint(const std::string& file, const RunInfo& info, Chain& chain, double seconds,
                      const HeldOutSum* held_out);

// For each chain of the run its checkpoint with most sweeps. Damaged ones are skipped and named in `warnings`. Error
// (input) if all of a chain are damaged, (config) if one belongs to another run, or to a version of ztp that this one
// does not continue.
std::vector<Checkpoint> latest_checkpoints(const std::string& run_dir, const RunInfo& info,
                                           std::vector<std::string>& warnings);
// Puts a chain back where a checkpoint of it was written. Modes may have grown at their ends since.
Checkpoint restore_chain(const std::string& file, const RunInfo& info, Chain& chain);
// What it had added up of held-out cells. Nothing, if the run keeps other draws by now.
std::optional<HeldOutSum> read_held_out(const std::string& file, const RunInfo& info);

// Error (config), if the options that a checkpoint was written with (as JSON) are not those of the run.
void check_options_match(const std::string& path, const std::string& written, const FitOptions& options);

}  // namespace ztp
