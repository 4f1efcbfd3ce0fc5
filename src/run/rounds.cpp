#include "run/rounds.hpp"

#include <algorithm>
#include <cmath>

#include "options/options.hpp"
#include "run/prepare.hpp"
#include "store/run_info.hpp"
#include "ztp/diagnose.hpp"

namespace ztp {
namespace {

constexpr double least_growth = 0.05;  // a round that adds less is not worth it

// Whether the probabilities of the watched cells agree between chains, and are precise enough.
bool has_converged(const std::string& run_dir, const RunInfo& info) {
  const Diagnosis diagnosis = diagnose(run_dir);
  return diagnosis.chains.size() == static_cast<std::size_t>(info.options.chains) &&
         (diagnosis.predictions == Verdict::good || diagnosis.predictions == Verdict::usable);
}

}  // namespace

std::int64_t first_round(const RunInfo& info) {
  std::int64_t sweeps = fewest_sweeps_until_converged;
  if (info.burn_in_given) sweeps = std::max(sweeps, 2 * info.options.burn_in);
  if (info.keep_every_given) sweeps = std::max(sweeps, 2 * info.options.keep_every);  // there must be a draw
  return std::min(sweeps, info.sweeps_asked);
}

std::optional<std::int64_t> next_round(const std::string& run_dir, RunInfo& info) {
  const std::int64_t now = info.options.sweeps;
  const double left = seconds_at_most(info.options.at_most) - info.seconds;
  const double reached = static_cast<double>(now) * (1 + std::max(left, 0.0) / info.seconds);  // when the time is up
  const std::int64_t wanted = now < info.sweeps_asked ? info.sweeps_asked : 2 * now;
  const std::int64_t next = static_cast<std::int64_t>(std::min(reached, static_cast<double>(wanted)));
  const bool time_is_up = static_cast<double>(next) < (1 + least_growth) * static_cast<double>(now);
  if (now >= info.sweeps_asked || time_is_up) {
    write_run_status(run_dir, info);  // diagnose reads it
    info.ended = has_converged(run_dir, info) ? "converged" : time_is_up ? "time" : "";
    if (!info.ended.empty()) return std::nullopt;
  }
  return next;
}

std::vector<Checkpoint> ask_for_round(const std::string& run_dir, RunInfo& info, std::int64_t sweeps,
                                      const RunRanks& ranks) {
  ask_for_sweeps(info, sweeps);
  if (ranks.leads()) write_run_status(run_dir, info);
  std::vector<std::string> warnings;
  return latest_checkpoints(run_dir, info, warnings);
}

}  // namespace ztp
