#include <fmt/format.h>

#include <algorithm>

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
      return fmt::format("{}, and no more for want of memory ({})", chosen, evidence);
    default:
      return fmt::format("{} ({})", chosen, evidence);
  }
}

std::string full_bound_text(const RunInfo& info) {
  const double rank = static_cast<double>(info.options.rank);
  double occupied = 0;
  for (const RunInfo::ChainStatus& chain : info.chains)  // a mean that is not a number is not larger
    if (chain.occupied_mean > occupied) occupied = chain.occupied_mean;
  if (info.options.rank == 1 || is_point_estimate(info.options) || occupied < 0.95 * rank) return "";
  const bool memory = !info.rank_choice.trials.empty() && info.rank_choice.stop == RankStop::memory;
  return fmt::format(
      "{:.1f} of {} components are occupied: the bound is full, and a larger --rank may predict better{}", occupied,
      info.options.rank, memory ? "; that takes more memory" : "");
}

}  // namespace ztp
