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
  std::vector<Duplicate> duplicate_examples;                    // the first few, by line
  std::vector<std::pair<std::string, std::uint64_t>> networks;  // mode, edges
  std::vector<std::string> warnings;
  // Of a fit with these options:
  FitCost cost;  // memory includes the program itself
  double seconds_per_sweep = 0;
};

// Reads everything, and times a small part of a sweep.
CheckReport check(const ReadOptions& read, const FitOptions& options);

}  // namespace ztp
