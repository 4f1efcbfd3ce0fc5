// Data that are in memory already: ids in arrays, which become what reading a file of the same cells gives.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ztp/read.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// Cells, networks and what is missing, as ids of the entities of `modes`, in any order and with repetitions.
struct Arrays {
  std::string source = "X";       // what messages call the cells
  std::vector<Mode> modes;        // names and entities; an entity need not occur
  Buffer<std::uint32_t> coords;   // cells x K
  Buffer<std::int64_t> values;    // of each cell: 0 is ignored; else a one, or with counts that many. Empty: all 1
  Buffer<std::uint32_t> missing;  // cells x K that were not observed
  std::vector<std::vector<std::uint32_t>> missing_slices;  // for each mode (or none at all) entities, all cells of them
  // An undirected network over a mode.
  struct Edges {
    std::size_t mode = 0;           // from 0
    std::size_t which = 1;          // for an update: the mode's first network, its second, ...
    std::string source;             // what messages call it; empty: its number
    Buffer<std::uint32_t> pairs;    // edges x 2
    Buffer<std::uint32_t> missing;  // pairs x 2 that were not observed
  };
  std::vector<Edges> networks;
};

// Checks, sorts and merges, in place: the coords are not copied. `counts`: the values are counts, to be kept. Gives the
// Dataset that read_dataset gives for files of the same contents, where every label of a file is an entity, also one
// whose cells all have the value zero. Errors and warnings as there, with `source` in the place of the file; what is
// missing they call "missing", "missing entities" and, of a network, its source and "(missing)". Error (usage) for
// arrays whose sizes do not fit each other, an id that its mode does not have, and names or labels that a text file
// cannot have.
Dataset make_dataset(Arrays arrays, bool counts = false);

}  // namespace ztp
