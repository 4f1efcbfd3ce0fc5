#include "posterior/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluate/number_words.hpp"
#include "posterior/posterior_impl.hpp"
#include "ztp/diagnose.hpp"

namespace ztp {
namespace {

// How far the mean over all chains may be off, as the chains themselves differ: the standard error of a probability, on
// average over watched cells that are neither nearly certain nor nearly excluded. NaN without such cells.
double typical_error(const Diagnosis& diagnosis) {
  double sum = 0;
  std::size_t cells = 0;
  for (const WatchedCell& cell : diagnosis.cells) {
    const Quantity& q = cell.probability;
    const double chains = static_cast<double>(q.chain_means.size());
    if (chains < 2 || !(q.mean > 0.05 && q.mean < 0.95)) continue;
    double squares = 0;
    for (const double mean : q.chain_means) squares += (mean - q.mean) * (mean - q.mean);
    sum += std::sqrt(squares / (chains - 1) / chains);
    ++cells;
  }
  return cells == 0 ? NAN : sum / static_cast<double>(cells);
}

std::string evidence_of(const Diagnosis& diagnosis) {
  if (!diagnosis.worst_cell) return "";
  const double r_hat = diagnosis.cells[*diagnosis.worst_cell].probability.r_hat, error = typical_error(diagnosis);
  std::string text = fmt::format(" (worst R-hat {:.{}f}", r_hat, r_hat < 1.1 ? 3 : 2);
  if (!std::isnan(error))
    text += fmt::format("; a probability is off by {:.{}f} on average", error, error < 0.01 ? 3 : 2);
  return text + ")";
}

RunVerdict convergence_of(const std::string& run_dir, const RunInfo& info) {
  const char* question = "Have the chains converged?";
  if (is_point_estimate(info.options)) return {question, Answer::unknown, "a point estimate has no chains."};
  const Diagnosis diagnosis = diagnose(run_dir);
  const Verdict predictions = diagnosis.predictions;
  const std::string evidence = evidence_of(diagnosis), remedy = diagnosis.sentences.back();  // it says what to do
  if (diagnosis.verdict == Verdict::too_short) return {question, Answer::unknown, lower_first(remedy)};
  if (diagnosis.verdict == Verdict::one_chain && predictions != Verdict::poor)
    return {question, Answer::unknown,
            "there is only one chain, so there is nothing to compare it with. Fit with --chains 4."};
  if (diagnosis.verdict == Verdict::one_chain)
    return {question, Answer::no,
            fmt::format("there is only one chain, and its predictions drift{}. Fit with --chains 4.", evidence)};
  if (predictions == Verdict::good)
    return {question, Answer::yes, fmt::format("the chains agree on predictions{}.", evidence)};
  if (predictions == Verdict::usable)
    return {question, Answer::nearly,
            fmt::format("the chains agree on predictions well enough to use them{}.", evidence)};
  return {question, Answer::no, fmt::format("the chains do not agree on predictions{}. {}", evidence, remedy)};
}

RunVerdict calibration_of(const CalibrationVerdict* found) {
  const char* question = "Are the probabilities calibrated?";
  if (found == nullptr) return {question, Answer::unknown, "no cells were held out. Fit with --holdout 0.1."};
  const Answer answer = found->calibrated == "yes"  ? Answer::yes
                        : found->calibrated == "no" ? Answer::no
                                                    : Answer::unknown;
  std::string words = lower_first(found->sentences.front());
  if (!found->against_popularity.empty()) words += " " + found->against_popularity;
  return {question, answer, words};
}

RunVerdict bound_of(const RunInfo& info) {
  const char* question = "Is the bound on the rank large enough?";
  double most = NAN;  // components in use, in the chain that uses most
  for (const RunInfo::ChainStatus& chain : info.chains) most = std::fmax(most, chain.occupied_mean);
  if (is_rival(info.options)) return {question, Answer::unknown, "the rank of a rival is not a bound."};
  if (std::isnan(most)) return {question, Answer::unknown, "there are no draws yet."};
  const double bound = static_cast<double>(info.options.rank), used = std::min(most, bound);
  const std::string in_use = fmt::format("{:.0f} of {} components are in use", used, info.options.rank);
  const bool memory = !info.rank_choice.trials.empty() && info.rank_choice.stop == RankStop::memory;
  const std::string larger =
      fmt::format("Fit with --rank {}{}", 2 * info.options.rank, memory ? " and more memory" : "");
  if (used > 0.98 * bound) return {question, Answer::no, fmt::format("{}, so there may be more. {}.", in_use, larger)};
  if (used > 0.9 * bound) return {question, Answer::nearly, fmt::format("{}. {} to be sure.", in_use, larger)};
  return {question, Answer::yes, in_use + "."};
}

}  // namespace

std::string RunVerdict::line() const {
  static constexpr const char* begin[] = {"Yes", "Nearly", "No", "Not known"};
  return fmt::format("{} {}: {}", question, begin[static_cast<int>(answer)], words);
}

std::vector<RunVerdict> judge_run(const std::string& run_dir, const RunInfo& info,
                                  const CalibrationVerdict* calibration) {
  return {convergence_of(run_dir, info), calibration_of(calibration), bound_of(info)};
}

std::vector<RunVerdict> run_verdicts(const std::string& run_dir) {
  const RunInfo info = run_info(run_dir);
  if (info.test_ones + info.test_zeros > 0) return Posterior(run_dir, 0, {.memory = info.options.memory}).verdicts();
  return judge_run(run_dir, info, nullptr);
}

std::vector<RunVerdict> Posterior::verdicts() {
  const RunInfo& info = impl_->info;
  if (info.test_ones + info.test_zeros == 0) return judge_run(impl_->run_dir, info, nullptr);
  const CalibrationVerdict calibration = Calibration(*this, "").verdict;
  return judge_run(impl_->run_dir, info, &calibration);
}

}  // namespace ztp
