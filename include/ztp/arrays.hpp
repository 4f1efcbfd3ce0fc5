// Data that are already in memory, as arrays of ids. The result is the same as reading a file with the same cells.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ztp/read.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// Cells, networks and what is missing, as ids of the entities of `modes`, in any order and with repetitions.
struct Arrays {
  std::string source = "X";       // the name of the cells in messages
  std::vector<Mode> modes;        // names and entities; an entity need not occur
  Buffer<std::uint32_t> coords;   // cells x K
  Buffer<std::int64_t> values;    // of each cell: 0 is ignored, others are ones, or counts. Empty: all 1
  Buffer<std::uint32_t> missing;  // cells x K that were not observed
  std::vector<std::vector<std::uint32_t>> missing_slices;  // for each mode, or empty: entities without observed cells
  // An undirected network over a mode.
  struct Edges {
    std::size_t mode = 0;           // from 0
    std::size_t which = 1;          // for an update: the mode's first network, its second, ...
    std::string source;             // its name in messages; empty: its number
    Buffer<std::uint32_t> pairs;    // edges x 2
    Buffer<std::uint32_t> missing;  // pairs x 2 that were not observed
  };
  std::vector<Edges> networks;
};

// Checks, sorts and merges in place: the coords are not copied. `counts`: the values are counts, and are kept. The
// Dataset is the one that read_dataset gives for files with the same contents. (In a file every label is an entity,
// even if all its cells have the value zero.) Errors and warnings are the same, with `source` instead of the file name;
// missing data are called "missing" and "missing entities", and those of a network by its source and "(missing)". Error
// (usage) for arrays whose sizes do not match, for an id that its mode does not have, and for names or labels that a
// text file cannot have.
Dataset make_dataset(Arrays arrays, bool counts = false);

}  // namespace ztp
