#include "sampler/batch.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace ztp {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Schedule Schedule::thinned_to(std::uint64_t draws) const {
  Schedule result = *this;
  while (result.keep_every < sweeps - burn_in && std::uint64_t{chains} * result.draws_per_chain() > draws)
    result.keep_every += keep_every;
  result.keep_every = std::min(result.keep_every, sweeps - burn_in);  // every chain keeps its last draw at least
  return result;
}

bool run_batch(const Problem& problem, Kernel& kernel, const Schedule& schedule, Position position,
               const std::function<void(Statistics&)>& restore, HeldOut* held_out, Observer& observer) {
  for (std::uint32_t c = position.chain; c < schedule.chains; ++c) {
    Chain chain(problem, kernel, c);
    SweepReport report;
    report.chain = c;
    if (c == position.chain && position.sweep > 0) {
      restore(chain.statistics());
      chain.restore(position.sweep);
      report.seconds = position.seconds;
    } else {
      chain.start();
    }
    while (chain.sweeps_done() < schedule.sweeps) {
      if (observer.stop_requested()) return false;
      const double begin = now();
      report.log_likelihood = chain.sweep();
      report.seconds += now() - begin;
      report.sweep = chain.sweeps_done();
      report.occupied = occupied(chain.statistics());
      report.auc_roc = std::numeric_limits<double>::quiet_NaN();
      const bool keep = schedule.keeps(report.sweep);
      if (held_out != nullptr && keep)
        report.auc_roc = held_out->score_and_keep(chain.rates());
      else if (held_out != nullptr && report.sweep <= schedule.burn_in && report.sweep % schedule.score_every == 0)
        report.auc_roc = held_out->score(chain.rates());
      if (keep) observer.on_draw(chain, report);
      observer.on_sweep(chain, report);
    }
  }
  return true;
}

}  // namespace ztp
