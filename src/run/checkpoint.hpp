// checkpoint.bin: everything a run needs to go on to the same draws. statistics-N.bin: what chain N ended with, for updates.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sampler/run_chains.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

struct Checkpoint {
  Position position;
  std::uint64_t draw_log_length = 0;
  std::uint64_t trace_length = 0;
  std::uint64_t cells_length = 0;
  std::uint64_t held_out_draws = 0;
  std::vector<double> held_out_sum;
};

void write_checkpoint(const std::string& run_dir, const RunInfo& info, const Checkpoint& checkpoint, AnyChain& chain);
// Nothing if the run has no checkpoint yet. What the chain carries is read by restore_chain, when there is one.
std::optional<Checkpoint> read_checkpoint(const std::string& run_dir, const RunInfo& info);
void restore_chain(const std::string& run_dir, const Checkpoint& checkpoint, AnyChain& chain);

void write_statistics(const std::string& run_dir, const RunInfo& info, AnyChain& chain);
// Into a chain of the same number, whose modes may have grown at their ends.
void read_statistics(const std::string& run_dir, const RunInfo& info, AnyChain& chain);

}  // namespace ztp
