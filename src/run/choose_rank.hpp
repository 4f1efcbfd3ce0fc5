// --rank auto: a bound on the number of components that leaves some of them empty, found by short chains of the real
// sampler (docs/model.md, section 10).
#pragma once
#include "ztp/fit.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

constexpr std::int64_t most_rank_tried = 200;  // more is slow, and hardly ever predicts better: docs/results.md
constexpr std::uint32_t longest_rank_trial = 40;

// Whether these options leave the rank open: not where components share columns, nor of a rival.
bool chooses_rank(const FitOptions& given, const FitOptions& complete);

// The rank to begin with: 25, or what of it fits into memory.
std::int64_t first_rank(const FitOptions& given, const FitOptions& complete, const Dataset& data);

// The largest rank that may be chosen, as far as memory goes.
std::int64_t largest_rank(const FitOptions& given, const FitOptions& complete, const Dataset& data);

// Chooses the rank and puts it into `complete`, which has the rank to begin with. A bound is tried in one chain of up
// to 40 sweeps (online, steps), and doubled while more than four fifths of the components are in use, up to 200 or to
// the end of memory. A function of data, options and seed, and where memory ends, of that.
// test_cells: those that are followed, which the data no longer have.
// Returns false if the callbacks requested a stop.
bool choose_rank(const FitOptions& given, const Dataset& data, std::size_t test_cells, const FitCallbacks& callbacks,
                 FitOptions& complete, RankChoice& choice);

}  // namespace ztp
