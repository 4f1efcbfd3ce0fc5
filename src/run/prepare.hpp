// From the options that were given to the problem and the schedule of a fit, with every default filled in.
#pragma once
#include "sampler/online_chain.hpp"
#include "sampler/run_chains.hpp"
#include "store/draw_layout.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Checks all options, MODE=A of --dirichlet included, and fills in those that follow from others or from the data.
FitOptions complete_options(const FitOptions& options, const Dataset& data);
// Fills in without the checks: for options that are complete in part.
FitOptions fill_in_defaults(const FitOptions& options, const Dataset& data);

// Complete options with another rank, and the parts of the prior and the schedule that follow from it. Not where
// components share columns.
FitOptions with_rank(std::int64_t rank, const FitOptions& given, const FitOptions& complete, const Dataset& data);

// How data are read for a fit with these options.
ReadOptions complete_read_options(const ReadOptions& read, const FitOptions& options);

// What a chain samples. Keeps references to the data, which must outlive it.
Problem make_problem(const FitOptions& complete, const Dataset& data, Pool* pool = nullptr);
Hyperparameters hyperparameters(const FitOptions& complete, const FactorLayout& layout, const std::vector<Mode>& modes);
// The modes that share a matrix; where there are such.
std::pair<std::size_t, std::size_t> tied_pair(const FitOptions& options, const Dataset& data);
OnlineOptions online_options(const FitOptions& complete);

// The schedule of a new run: at most as many draws as asked for, and at most 4 GiB of them.
Schedule make_schedule(const FitOptions& complete, const DrawLayout& layout);
// The schedule of an existing run.
Schedule schedule_of_run(const RunInfo& info);
// Requests so many sweeps of a run. Burn-in and thinning become those of a fit with as many sweeps, unless they were
// given.
void ask_for_sweeps(RunInfo& info, std::int64_t sweeps);
// Whether chains with these options, which differ only in their schedules, go through the same states.
bool same_chains(const FitOptions& complete, const FitOptions& other, std::uint64_t ones);

}  // namespace ztp
