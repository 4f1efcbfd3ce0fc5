// What new data bring to a run that has data already.
#pragma once
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "ztp/arrays.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"
#include "ztp/update.hpp"

namespace ztp {

// What has come, over the modes of the run as they are with it.
struct NewData {
  std::string source;             // for messages
  SparseTensor tensor;            // modes, and the ones that are new
  std::vector<Network> networks;  // as many as the run has, each with its new edges
};

// Data as they came, over the entities as they were found there.
struct FreshData {
  std::string source;  // for messages
  Dataset ones;        // modes; and ones, if there are any
  struct Edges {
    std::size_t network = 0;  // of the run
    std::string source;
    std::vector<Mode> found;      // of the two columns; none: both are the network's mode of `ones`
    Buffer<std::uint32_t> pairs;  // as they were given
  };
  std::vector<Edges> edges;
};
// From files, and from memory; `old`: the data of the run.
FreshData read_fresh(const ReadOptions& files, Dataset& old, Pool& pool);
FreshData take_fresh(Arrays arrays, bool counts, Dataset& old);

// Takes out what the run knew already. The summary says what was found.
NewData take_news(FreshData fresh, const Dataset& old, Pool& pool, UpdateSummary& summary);

// Adds them to the data of the run: what is no longer missing is no longer said to be. Returns how many entities and
// cells that are.
std::uint64_t merge(const NewData& news, Dataset& data);

}  // namespace ztp
