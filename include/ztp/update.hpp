// New data for a run that is complete: filtered in, each datum once, without a look at the old data.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ztp/arrays.hpp"
#include "ztp/fit.hpp"
#include "ztp/read.hpp"

namespace ztp {

// The largest number of looks.
inline constexpr std::int64_t most_update_sweeps = 1000000;

// How new data are taken in. What else there is to say, as the model, is as in the run.
struct UpdateOptions {
  std::int64_t sweeps = 65;      // looks at the new data; the last four fifths of them each leave a draw
  std::int64_t draws = 1000;     // most draws to keep, all chains together
  std::int64_t minibatch = -1;   // ones filtered together in the first look; -1: a tenth of the new ones
  std::string out;               // another run directory to make; empty: the run itself is replaced
  unsigned threads = 1;          // of reading and of sampling; the draws do not depend on it
  bool require_new_data = true;  // nothing new is an error; else a warning, and nothing is made or changed
};

// What was new, and what became of the run.
struct UpdateSummary {
  FitOutcome outcome = FitOutcome::complete;                    // interrupted: nothing has changed
  std::uint64_t ones = 0;                                       // that were new
  std::uint64_t known_ones = 0;                                 // that the run had already, and were not used again
  std::uint64_t edges = 0;                                      // that were new
  std::uint64_t known_edges = 0;                                // likewise
  std::vector<std::pair<std::string, std::uint32_t>> entities;  // new ones of each mode
  std::vector<std::string> warnings;                            // of reading, and of what was missing and is there now
};

// `fresh`: the file of ones, which may be empty if there are networks, and MODE=FILE (or MODE:2=FILE) for new edges of
// the run's networks. Labels that the run does not know become new entities. Until everything is done the run stays as
// it was; an interrupted update leaves it so. Error (usage), if there is neither a file nor a network, or something
// missing; (config), if an option is out of its range, or the run is not complete, not of the model ztp or of another
// version; (input), if nothing is new and news are required.
UpdateSummary update(const std::string& run_dir, const ReadOptions& fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks = {});

// The same with data that are in memory. `fresh.modes` are those of the run, in their order, with the entities as they
// were found in the new data: the run's by their labels, others become new ones, in the order of their ids, if they
// occur. Coords or networks may be empty.
UpdateSummary update(const std::string& run_dir, Arrays fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks = {});

}  // namespace ztp
