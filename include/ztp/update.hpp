// Adds new data to a complete run. Each datum is used once, and the old data are not read again.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ztp/arrays.hpp"
#include "ztp/fit.hpp"
#include "ztp/read.hpp"

namespace ztp {

// The largest number of passes over the new data.
inline constexpr std::int64_t most_update_sweeps = 1000000;

// How new data are added. Everything else, such as the model, is as in the run.
struct UpdateOptions {
  std::int64_t sweeps = 65;      // passes over the new data; each of the last four fifths gives a draw
  std::int64_t draws = 1000;     // maximum number of draws to keep, over all chains
  std::int64_t minibatch = -1;   // ones per minibatch in the first pass; -1: a tenth of the new ones
  std::string out;               // another run directory to create; empty: the run itself is replaced
  unsigned threads = 1;          // for reading and sampling; the draws do not depend on it
  bool require_new_data = true;  // if nothing is new: an error, or else a warning without any change
};

// What was new, and how the update ended.
struct UpdateSummary {
  FitOutcome outcome = FitOutcome::complete;                    // interrupted: nothing has changed
  std::uint64_t ones = 0;                                       // that were new
  std::uint64_t known_ones = 0;                                 // already in the run, and not used again
  std::uint64_t edges = 0;                                      // that were new
  std::uint64_t known_edges = 0;                                // the same for edges
  std::vector<std::pair<std::string, std::uint32_t>> entities;  // new ones of each mode
  std::vector<std::string> warnings;                            // of reading, and of missing cells that have data now
  std::vector<std::string> notes;                               // of reading
};

// `fresh`: the file of ones, which may be empty if there are networks, and MODE=FILE (or MODE:2=FILE) for new edges of
// the run's networks. Labels that the run does not know become new entities. Until everything is done the run stays as
// it was; an interrupted update leaves it so. Error (usage), if there is neither a file nor a network, or something
// missing; (config), if an option is out of its range, or the run is not complete, not of the model ztp or of a version
// that this one does not continue; (input), if nothing is new and new data are required.
UpdateSummary update(const std::string& run_dir, const ReadOptions& fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks = {});

// The same with data that are in memory. `fresh.modes` are those of the run, in their order, with the entities found in
// the new data: labels that the run has mean its entities, and others that occur become new ones, in the order of their
// ids. Coords or networks may be empty.
UpdateSummary update(const std::string& run_dir, Arrays fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks = {});

}  // namespace ztp
