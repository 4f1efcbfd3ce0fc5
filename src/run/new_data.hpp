// New data for a run: what of it the run does not have yet.
#pragma once
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "ztp/arrays.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"
#include "ztp/update.hpp"

namespace ztp {

// The ones and edges that are new to the run. Its modes include the new entities; it has as many networks as the run.
struct NewData : Dataset {
  std::string source;  // for messages
};

// Data as they were given, with ids of their own.
struct IncomingData {
  std::string source;  // for messages
  Dataset ones;        // modes; and ones, if there are any
  struct Edges {
    std::size_t network = 0;  // of the run
    std::string source;
    std::vector<Mode> found;      // modes of the two columns; none: both are the network's mode in `ones`
    Buffer<std::uint32_t> pairs;  // as they were given
  };
  std::vector<Edges> edges;
};
// Reads them from files, or takes them from memory. `old`: the data of the run.
IncomingData read_incoming(const ReadOptions& files, Dataset& old, Pool& pool);
IncomingData incoming_from_arrays(Arrays arrays, bool counts, Dataset& old);

// Removes what the run has already, and counts both in the summary.
NewData extract_new_data(IncomingData fresh, const Dataset& old, Pool& pool, UpdateSummary& summary);

// Adds them to the data of the run. Entities and cells that were listed as missing and now have ones are taken off the
// list; returns how many.
std::uint64_t merge_new_data(const NewData& new_data, Dataset& data);

}  // namespace ztp
