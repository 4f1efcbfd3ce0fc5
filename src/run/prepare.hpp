// From options as given to a problem and a schedule with every default filled in.
#pragma once
#include "sampler/online_chain.hpp"
#include "sampler/run_chains.hpp"
#include "store/draw_layout.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Checks everything, MODE=A of --dirichlet included, and fills in what follows from other options or from the data.
FitOptions complete_options(const FitOptions& options, const Dataset& data);
// Fills in alone: for options of which some are complete already.
FitOptions fill_in(const FitOptions& options, const Dataset& data);

// How data are read for a fit with these options.
ReadOptions reading_for(const ReadOptions& read, const FitOptions& options);

// What a chain samples. Refers to the data, which must outlive it.
Problem make_problem(const FitOptions& complete, const Dataset& data);
Hyperparameters hyperparameters(const FitOptions& complete, const std::vector<Mode>& modes);
OnlineOptions online_options(const FitOptions& complete);

// Of a run that begins: keeps at most as many draws as asked for, and no more than 4 GiB of them.
Schedule schedule(const FitOptions& complete, const DrawLayout& layout);
// Of a run that is there: draws are kept as often as when it began, although it may have been asked for more sweeps
// since.
Schedule schedule_of(const RunInfo& info);

}  // namespace ztp
