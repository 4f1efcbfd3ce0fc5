// A fit that goes on until its chains agree: rounds of more and more sweeps, judged as `ztp diagnose` does. After each
// the run is what a fit of that many sweeps would be.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/checkpoint.hpp"
#include "run/ranks.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// The sweeps of the first round. It is short: it tells how many fit into the time.
std::int64_t first_round(const RunInfo& info);
// How many sweeps the chains should have after the next round, when all are through with one; nothing, if the chains
// agree or the time is up. Then info.ended says which.
std::optional<std::int64_t> next_round(const std::string& run_dir, RunInfo& info);
// Asks the run for these sweeps, and returns where its chains go on. All ranks ask; the first of them writes it down.
std::vector<Checkpoint> ask_for_round(const std::string& run_dir, RunInfo& info, std::int64_t sweeps,
                                      const RunRanks& ranks);

}  // namespace ztp
