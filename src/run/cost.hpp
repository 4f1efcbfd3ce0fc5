// The memory and time that a fit needs.
#pragma once
#include "run/thread_plan.hpp"
#include "ztp/check.hpp"

namespace ztp {

// Bytes: what --memory says, or what the machine has for this process.
double allowed_memory(const FitOptions& options);

// Whether the fit needs no more than --memory allows, if this process alone makes its chains. `test_cells` as below.
bool fits_into_memory(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells = 0);

// Error (config), if the fit needs more than --memory allows: it tells how much, and what would need less.
// `test_cells`: the number of cells of a test file, if it is known; cells that the fit holds out are counted anyway.
void require_memory(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells = 0);

// How the fit uses its threads, with no more chains at a time than fit into that memory.
ThreadPlan threads_within_memory(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells = 0);

// Listed missing cells that a sweep, or online a step, imputes; with those that the fit will hold out as missing.
double missing_cells_of_step(const Dataset& data, const FitOptions& complete);

// A sample of the ones in the order of a sweep: runs of 64 neighbours, which share rows. Of a file, which is shuffled,
// the first ones.
Buffer<std::uint32_t> some_ones(const Dataset& data, std::size_t wanted);

// Seconds of a sweep with so many threads, or online of a step. Measured on a part of the data, in about a second.
double time_of_sweep(const Dataset& data, const FitOptions& complete, unsigned threads);

}  // namespace ztp
