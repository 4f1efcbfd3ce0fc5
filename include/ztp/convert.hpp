// From text files to a tensor file (.ztpt), in bounded memory: for data that do not fit into it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ztp/read.hpp"

namespace ztp {

// What to convert, and to what.
struct ConvertOptions {
  std::size_t memory = std::size_t{256} << 20;  // bytes for sorting; label tables, and the text being read, come on top
  std::size_t ones_per_block = 65536;           // what is read and checked at once; at most 2^24
  bool force = false;                           // replace a file of that name
};

// What came of it.
struct ConvertSummary {
  bool stopped = false;               // on request: there is no file, and the rest has no meaning
  std::uint64_t ones = 0;             // in the file
  std::uint64_t total_count = 0;      // of counts their sum, else the ones
  std::uint64_t lines = 0;            // cells given, duplicates included
  std::uint64_t duplicates = 0;       // of them merged away
  std::uint64_t zeros = 0;            // cells given with the value zero, ignored
  std::size_t blocks = 0;             // of the file
  std::uint64_t bytes = 0;            // its length
  std::uint64_t fingerprint = 0;      // changes with any change of contents
  std::vector<std::string> warnings;  // as Dataset::warnings
  std::vector<std::string> notes;     // as Dataset::notes
  // Names and sizes.
  std::vector<std::pair<std::string, std::uint32_t>> modes;
};

// Called now and then with what is being done, and the part of it that is done (NaN if unknown).
using ConvertProgress = std::function<void(const std::string& what, double part)>;

// Reads as read_dataset does, except networks and missing cells, which are given to the fit. Temporary data go to the
// directory of `out` and have no name there; `out` appears when it is complete. The file depends on the cells and
// labels alone, not on memory or threads. `stop` is asked now and then whether to give up. Throws Error: as
// read_dataset, and usage for networks, missing cells or ones_per_block out of range, config for a file that is there
// already or was converted already, io for the disk.
ConvertSummary convert(const ReadOptions& options, const std::string& out, const ConvertOptions& convert_options = {},
                       const ConvertProgress& progress = {}, const std::function<bool()>& stop = {});

}  // namespace ztp
