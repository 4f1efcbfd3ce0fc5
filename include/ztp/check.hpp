// What is in a file, what is odd about it, and the memory and time that a fit will need.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// The memory and draws of a fit.
struct FitCost {
  double memory = 0;            // bytes at its peak, not counting the program itself
  double draws_file = 0;        // bytes of the draws in draws.nc
  // Bytes of the run directory when the fit is complete; shortly before, it holds the draws twice.
  double run_directory = 0;
  std::uint64_t draws = 0;      // how many will be kept
  unsigned chains_at_once = 1;  // chains that run at the same time
};
// What each process needs where several share a chain.
struct ProcessCost {
  double memory = 0;           // bytes
  double bytes_per_sweep = 0;  // that it sends to others
  double gpu_memory = 0;       // bytes, with --kernel cuda
};
// What a fit of these data would need, without timing anything. With rank auto: at the largest rank that it tries.
FitCost estimate_cost(const Dataset& data, const FitOptions& options);

// What to know about data before a fit.
struct CheckReport {
  // One mode.
  struct ModeReport {
    std::string name;
    std::uint32_t size = 0;                   // entities
    std::uint32_t empty = 0;                  // entities without a one
    std::vector<std::string> empty_examples;  // the first few
    std::string busiest;                      // the entity with most ones
    std::uint64_t busiest_ones = 0;
    std::uint32_t missing = 0;  // entities all of whose cells are missing
  };
  std::vector<ModeReport> modes;
  std::uint64_t ones = 0;        // each counted once
  double volume = 0;             // cells in all
  std::uint64_t duplicates = 0;  // cells that were given before
  std::uint64_t zeros = 0;       // cells given with the value zero
  // A cell that is given more than once.
  struct Duplicate {
    std::uint64_t line = 0, first_line = 0;  // of the file, from 1
    std::string cell;                        // its labels
  };
  std::vector<Duplicate> duplicate_examples;  // the first few, by line
  // One network.
  struct NetworkReport {
    std::string mode;           // whose entities it connects
    std::uint64_t edges = 0;    // each counted once
    std::uint64_t missing = 0;  // pairs that were not observed
  };
  std::vector<NetworkReport> networks;
  std::uint64_t missing_cells = 0;    // listed, outside missing slices
  double missing_volume = 0;          // all missing cells, slices included
  std::vector<std::string> warnings;  // of reading, as in Dataset
  std::vector<std::string> notes;     // likewise
  std::vector<FileSummary> files;     // likewise
  // Two modes whose entities seem to be the same, as those of subject and object are.
  struct SameEntities {
    std::string first, second;                              // the modes
    std::uint64_t shared = 0;                               // labels that both have
    std::uint64_t first_entities = 0, second_entities = 0;  // of each; where labels are numbers, those with ones
    std::uint64_t self_ones = 0;                            // ones with the same entity in both
    SelfCells self_cells = SelfCells::missing;  // what FitOptions::self_cells would be: zero, if there are such ones
  };
  std::optional<SameEntities> same_entities;  // a suggestion for FitOptions::tie; none if modes are tied already
  // Of a fit with these options:
  FitOptions options;            // with all defaults filled in
  FitCost cost;                  // memory includes the program itself
  double seconds_per_sweep = 0;  // of one chain; online, of a step
  double seconds = 0;            // of all chains
  RankChoice rank_choice;        // if the rank is auto, and was chosen
  // If the rank is auto and choosing it would take long: `options` has the largest possible rank, and this is for the
  // smallest.
  struct SmallestRank {
    std::int64_t rank = 0;
    FitCost cost;
    double seconds_per_sweep = 0;
    double seconds = 0;
  };
  std::optional<SmallestRank> smallest_rank;
  std::size_t ranks = 1;               // processes of the fit
  std::optional<ProcessCost> process;  // if there are more of them than chains
};

// Reads everything, as read_dataset(read, options) does but without a limit on memory, and times a small part of a
// sweep. Chooses the rank as a fit would, if it is auto and that takes seconds. `ranks`: the processes that share the
// fit, with the plain sampler. Errors: those of check_options, and of reading.
CheckReport check(const ReadOptions& read, const FitOptions& options, std::size_t ranks = 1);

}  // namespace ztp
