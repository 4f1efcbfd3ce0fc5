#include <fmt/format.h>

#include "ztp/run_info.hpp"

namespace ztp {

std::string rank_choice_text(const RankChoice& choice) {
  std::string tried;
  for (const RankTrial& trial : choice.trials)
    tried += fmt::format("{}{} of {}", tried.empty() ? "" : ", ", trial.used, trial.rank);
  const std::string chosen = fmt::format("rank auto: {}", choice.trials.back().rank);
  const std::string evidence = fmt::format("99 % of the counts are in {} components", tried);
  switch (choice.stop) {
    case RankStop::most:
      return fmt::format("{}, the most that it tries; --rank gives more ({})", chosen, evidence);
    case RankStop::memory:
      return fmt::format("{}, and memory does not allow more ({})", chosen, evidence);
    default:
      return fmt::format("{} ({})", chosen, evidence);
  }
}

std::string ended_text(const RunInfo& info) {
  if (info.ended.empty()) return "";
  if (info.ended == "converged")
    return fmt::format("stopped after {} sweeps of each chain: the chains agree on predictions", info.options.sweeps);
  return fmt::format(
      "stopped after {} sweeps of each chain: the time is up (--at-most {}), and the chains do not agree on "
      "predictions yet",
      info.options.sweeps, info.options.at_most);
}

}  // namespace ztp
