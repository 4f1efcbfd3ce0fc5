#include "run/thread_plan.hpp"

#include <algorithm>

#include "base/pool.hpp"

namespace ztp {
namespace {

// Measured on one core: what a sweep takes for each one and each number in the rows of its modes, and for each gamma
// draw of a factor.
constexpr double seconds_of_a_product = 2.2e-9, seconds_of_a_draw = 10e-9;
// A sweep calls its threads about ten times, for some microseconds each: a thread is of use if it has as much to do in
// every sweep, and uses its core fully if it has more.
constexpr double least_work = 200e-6, full_work = 2e-3;

// Of the part of a sweep that threads share.
double seconds_of_sweep(const FitOptions& options, const Dataset& data) {
  const double R = static_cast<double>(options.rank), K = static_cast<double>(data.tensor.order());
  const double ones = static_cast<double>(data.ones());
  const double looked_at =
      is_online(options) && options.minibatch > 0 ? std::min(ones, static_cast<double>(options.minibatch)) : ones;
  double products = K * (looked_at + static_cast<double>(data.missing.cells.size()) / K), rows = 0;
  for (const Network& network : data.networks) products += 2 * static_cast<double>(network.size());
  for (const Mode& mode : data.tensor.modes) rows += static_cast<double>(mode.labels.size());
  return R * (seconds_of_a_product * products + seconds_of_a_draw * rows);
}

unsigned threads_for(double seconds, double each) {
  return static_cast<unsigned>(std::clamp(seconds / each, 1.0, 1024.0));
}

// Collapsed moves and moves between columns take most of a sweep, and are serial.
bool is_serial(const FitOptions& complete) {
  return complete.sampler == Sampler::collapsed || shares_columns(complete);
}

bool can_run_side_by_side(const FitOptions& options) {
  return !is_online(options) && !is_rival(options);
}

}  // namespace

ThreadPlan plan_threads(const FitOptions& complete, const Dataset& data, unsigned chains) {
  const unsigned all = static_cast<unsigned>(complete.threads), each = std::max(1u, all / chains);
  if (is_rival(complete)) return {chains, each};
  return {chains, std::min(each, threads_for(seconds_of_sweep(complete, data), least_work))};
}

ThreadPlan plan_threads(const FitOptions& complete, const Dataset& data) {
  unsigned chains = 1;
  if (can_run_side_by_side(complete)) {
    const unsigned used = is_serial(complete) ? 1 : threads_for(seconds_of_sweep(complete, data), full_work);
    chains = std::clamp(static_cast<unsigned>(complete.threads) / used, 1u, static_cast<unsigned>(complete.chains));
  }
  return plan_threads(complete, data, chains);
}

std::int64_t useful_threads(const FitOptions& options, const Dataset& data) {
  const unsigned cores = available_cores();
  if (is_rival(options)) return cores;
  const unsigned chains = can_run_side_by_side(options) ? static_cast<unsigned>(options.chains) : 1;
  return std::min(cores, chains * threads_for(seconds_of_sweep(options, data), least_work));
}

}  // namespace ztp
