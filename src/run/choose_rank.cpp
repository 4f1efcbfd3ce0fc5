#include "run/choose_rank.hpp"

#include <malloc.h>

#include <algorithm>
#include <numeric>

#include "run/chain_factory.hpp"
#include "run/cost.hpp"
#include "run/prepare.hpp"

namespace ztp {
namespace {

// Sweeps before a bound may be found large enough. Chains begin with all components in use, and empty them from then
// on; online, the first steps have seen a part of the ones alone.
constexpr std::uint32_t shortest_trial = 10;

// The fewest components that together have 99 % of the counts. Plain sweeps empty components slowly: what is on its way
// out has a small part of the counts long before it has none.
std::size_t used_components(const Statistics& statistics) {
  std::vector<std::int64_t> counts = statistics.from_ones;
  std::sort(counts.begin(), counts.end(), std::greater<>());
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  double sum = 0;
  std::size_t used = 0;
  while (used < counts.size() && sum < 0.99 * all) sum += static_cast<double>(counts[used++]);
  return used;
}

bool is_enough(const RankTrial& trial) {
  return 5 * trial.used <= 4 * std::size_t{trial.rank};
}

// Returns false if a stop was requested.
bool run_trial(const FitOptions& complete, const Dataset& data, const FitCallbacks& callbacks, RankTrial& trial) {
  FitOptions options = complete;
  options.start = Start::allocation;  // from the prior few components would be in use at first
  trial.rank = static_cast<std::uint32_t>(options.rank);
  Pool pool(static_cast<unsigned>(options.threads));
  const ChainFactory factory(options, data, pool);
  const std::unique_ptr<PoissonChain> chain = factory.make(0);
  chain->start();
  while (trial.sweeps < longest_rank_trial && (trial.sweeps < shortest_trial || !is_enough(trial))) {
    if (callbacks.stop_requested && callbacks.stop_requested()) return false;
    chain->step(false);
    trial.sweeps = chain->steps_done();
    trial.used = used_components(chain->statistics());
    if (callbacks.on_rank_trial) callbacks.on_rank_trial(trial);
  }
  return true;
}

}  // namespace

bool chooses_rank(const FitOptions& given, const FitOptions& complete) {
  return given.rank < 0 && !is_rival(complete) && !shares_columns(complete);
}

std::int64_t first_rank(const FitOptions& given, const FitOptions& complete, const Dataset& data) {
  std::int64_t rank = complete.rank;
  while (rank > 1 && !fits_into_memory(data, with_rank(rank, given, complete, data))) rank /= 2;
  return rank;
}

std::int64_t largest_rank(const FitOptions& given, const FitOptions& complete, const Dataset& data) {
  std::int64_t rank = first_rank(given, complete, data);
  while (2 * rank <= most_rank_tried && fits_into_memory(data, with_rank(2 * rank, given, complete, data))) rank *= 2;
  return rank;
}

bool choose_rank(const FitOptions& given, const Dataset& data, std::size_t test_cells, const FitCallbacks& callbacks,
                 FitOptions& complete, RankChoice& choice) {
  const auto fits = [&](std::int64_t rank) {
    FitOptions tried = with_rank(rank, given, complete, data);
    tried.holdout = 0;  // what is held out is no longer in the data, and what of it is missing is
    tried.holdout_as = HoldoutAs::zero;
    return fits_into_memory(data, tried, test_cells);
  };
  for (;; complete = with_rank(2 * complete.rank, given, complete, data)) {
    RankTrial trial;
    if (!run_trial(complete, data, callbacks, trial)) return false;
    malloc_trim(0);  // returns the memory of the chain
    choice.trials.push_back(trial);
    choice.stop = is_enough(trial)                      ? RankStop::enough
                  : 2 * complete.rank > most_rank_tried ? RankStop::most
                                                        : RankStop::memory;
    if (choice.stop != RankStop::memory || !fits(2 * complete.rank)) return true;
  }
}

}  // namespace ztp
