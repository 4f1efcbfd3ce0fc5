#include "sampler/run_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

void look_at_cells(Chain& chain, const Schedule& schedule, const TrackedCells& tracked, SweepReport& report) {
  const std::uint32_t t = report.sweep;
  report.auc_roc = std::numeric_limits<double>::quiet_NaN();
  report.watched.clear();
  const bool scores = tracked.held_out != nullptr && t <= schedule.burn_in && t % schedule.score_every == 0;
  const bool watches =
      tracked.watched != nullptr && t > schedule.burn_in && (t - schedule.burn_in) % schedule.watch_every == 0;
  if ((scores || watches) && !schedule.keeps(t)) chain.draw_state();
  if (tracked.held_out != nullptr && schedule.keeps(t))
    report.auc_roc = tracked.held_out->score_and_keep(chain);
  else if (scores)
    report.auc_roc = tracked.held_out->score(chain);
  if (!watches) return;
  report.watched.resize(tracked.watched->size());
  chain.probabilities(tracked.watched->coords.data(), report.watched.size(), report.watched.data());
}

// One step, which must come out with a likelihood if it is asked for one.
double checked_step(Chain& chain, bool likelihood) {
  const double value = chain.step(likelihood);
  if (!chain.knows_likelihood() || std::isfinite(value) || (std::isnan(value) && !likelihood)) return value;
  throw Error(ErrorKind::numeric,
              fmt::format("{} {}: the log-likelihood is {}; fewer components, or hyperparameters nearer to their "
                          "defaults, may help; if they are at their defaults, please report this",
                          chain.step_name(), chain.steps_done(), std::isnan(value) ? "not a number" : "infinite"));
}

}  // namespace

Schedule Schedule::thinned_to(std::uint64_t draws) const {
  Schedule result = *this;
  while (result.keep_every < sweeps - burn_in && std::uint64_t{chains} * result.draws_per_chain() > draws)
    result.keep_every += keep_every;
  result.keep_every = std::min(result.keep_every, sweeps - burn_in);  // every chain keeps its last draw at least
  return result;
}

bool run_chains(const ChainMaker& make_chain, const Schedule& schedule, const StartedChains& started,
                const TrackedCells& tracked, Observer& observer) {
  for (std::uint32_t c = 0; c < schedule.chains; ++c) {
    const std::uint32_t behind = c < started.sweeps.size() ? started.sweeps[c] : 0;
    if (behind >= schedule.sweeps) continue;
    const std::unique_ptr<Chain> chain = make_chain(c);
    SweepReport report;
    report.chain = c;
    report.sweep = behind;
    if (behind > 0)
      report.seconds = started.restore(*chain);
    else
      chain->start();
    if (chain->steps_done() != behind)
      throw Error(ErrorKind::input, fmt::format("chain {} is put back after {} {}s, not {}; the run cannot go on",
                                                c + 1, chain->steps_done(), chain->step_name(), behind));
    while (chain->steps_done() < schedule.sweeps) {
      if (observer.stop_requested()) {
        observer.on_stop(*chain, report);
        return false;
      }
      const double begin = clock_seconds();
      try {
        report.log_likelihood = checked_step(*chain, schedule.wants_likelihood(chain->steps_done() + 1));
      } catch (...) {
        if (chain->whole() && chain->steps_done() == report.sweep) observer.on_failure(*chain, report);
        throw;
      }
      report.sweep = chain->steps_done();
      if (schedule.keeps(report.sweep)) chain->draw_state();
      report.seconds += clock_seconds() - begin;
      look_at_cells(*chain, schedule, tracked, report);
      chain->describe(report);
      report.learned = chain->learned();
      if (schedule.keeps(report.sweep)) observer.on_draw(*chain, report);
      observer.on_sweep(*chain, report);
    }
    observer.on_end(*chain, report);
  }
  return true;
}

}  // namespace ztp
