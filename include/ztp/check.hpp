// What is in a file, what is odd about it, and what a fit of it will take.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ztp/fit.hpp"

namespace ztp {

struct CheckReport {
  struct ModeReport {
    std::string name;
    std::uint32_t size = 0;
    std::uint32_t empty = 0;                  // entities without a one
    std::vector<std::string> empty_examples;  // the first few
    std::string busiest;                      // the entity with most ones
    std::uint64_t busiest_ones = 0;
    std::uint32_t missing = 0;  // entities all of whose cells are missing
  };
  std::vector<ModeReport> modes;
  std::uint64_t ones = 0;  // after merging
  double volume = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t zeros = 0;  // cells given with the value zero
  struct Duplicate {
    std::uint64_t line = 0, first_line = 0;
    std::string cell;
  };
  std::vector<Duplicate> duplicate_examples;  // the first few, by line
  struct NetworkReport {
    std::string mode;
    std::uint64_t edges = 0;
    std::uint64_t missing = 0;  // pairs
  };
  std::vector<NetworkReport> networks;
  std::uint64_t missing_cells = 0;  // listed, outside missing slices
  double missing_volume = 0;        // all missing cells, slices included
  std::vector<std::string> warnings;
  // Of a fit with these options:
  FitCost cost;  // memory includes the program itself
  double seconds_per_sweep = 0;
};

// Reads everything, and times a small part of a sweep.
CheckReport check(const ReadOptions& read, const FitOptions& options);

}  // namespace ztp
