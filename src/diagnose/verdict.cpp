#include "diagnose/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/number_words.hpp"

namespace ztp {
namespace {

// The limits of include/ztp/diagnose.hpp.
constexpr double good_r_hat = 1.01, usable_r_hat = 1.05;
constexpr double good_ess = 400, usable_ess = 100;
constexpr std::int64_t enough_chains = 4;  // what the paper recommends

Verdict grade_r_hat(double r_hat) {
  return r_hat <= good_r_hat ? Verdict::good : r_hat <= usable_r_hat ? Verdict::usable : Verdict::poor;
}

Verdict grade_ess(double ess) {
  return ess >= good_ess ? Verdict::good : ess >= usable_ess ? Verdict::usable : Verdict::poor;
}

// The worst values over some quantities. Constant quantities agree, and are left out.
struct WorstCase {
  double r_hat = 1;
  double ess = std::numeric_limits<double>::infinity();
  bool unknown = false;  // draws that are not finite, or too few of them

  Verdict agreement() const { return unknown ? Verdict::poor : grade_r_hat(r_hat); }
  Verdict precision() const { return unknown ? Verdict::poor : grade_ess(ess); }
  Verdict grade() const { return std::max(agreement(), precision()); }  // good < usable < poor
  // How many times as many sweeps are needed: with their number ESS grows, and R-hat - 1 shrinks if chains agree. ESS
  // also grows with the number of chains.
  double shortfall(double more_chains) const {
    return std::max(good_ess / ess / more_chains, (r_hat - 1) / (good_r_hat - 1));
  }

  void add(const Quantity& q) {
    if (q.constant) return;
    if (std::isnan(q.r_hat)) {
      unknown = true;
      return;
    }
    r_hat = std::max(r_hat, q.r_hat);
    ess = std::min({ess, q.ess_bulk, q.ess_tail});
  }
};

std::string r_hat_text(double r_hat) {
  return std::isinf(r_hat) ? "infinite" : fmt::format("{:.{}f}", r_hat, r_hat < 1.1 ? 3 : 2);
}

// What is judged, with the words for it.
struct Subject {
  std::string name;  // "Predictions", "The occupied rank"
  bool plural = false;
  std::string r_hat;    // "worst R-hat", "R-hat"
  std::string means;    // ": chain means 23.1, 35.0", or nothing
  std::string warning;  // what not to do with it
  WorstCase worst;

  std::string evidence() const {
    if (worst.unknown) return "(too few draws, or numbers that are not finite)";
    if (std::isinf(worst.ess)) return "(constant)";
    return fmt::format("({} {}{})", r_hat, r_hat_text(worst.r_hat), means);
  }
};

// "agree between chains", "do not agree between chains", "drifts within the chain", ...
std::string agreement(const Subject& subject, bool one_chain) {
  const std::string s = subject.plural ? "" : "s", does = subject.plural ? "do" : "does";
  switch (subject.worst.agreement()) {
    case Verdict::good:
      return one_chain ? fmt::format("{} not drift within the chain", does) : fmt::format("agree{} between chains", s);
    case Verdict::usable:
      return one_chain ? fmt::format("drift{} little within the chain", s)
                       : fmt::format("nearly agree{} between chains", s);
    default:
      return one_chain ? fmt::format("drift{} within the chain", s) : fmt::format("{} not agree between chains", does);
  }
}

std::string about_agreement(const Subject& predictions, const Subject& rank, bool one_chain) {
  const bool first_bad = predictions.worst.agreement() == Verdict::poor;
  const bool second_bad = rank.worst.agreement() == Verdict::poor;
  std::string text =
      fmt::format("{} {} {}", predictions.name, agreement(predictions, one_chain), predictions.evidence());
  text += first_bad ? ": " + predictions.warning + ". " : second_bad ? ", but " : ", and ";
  const std::string name = first_bad ? rank.name : lower_first(rank.name);
  const bool short_no = second_bad && !first_bad && !one_chain;
  text += fmt::format("{} {} {}", name, short_no ? "does not" : agreement(rank, one_chain), rank.evidence());
  return text + (second_bad ? ": " + rank.warning + "." : ".");
}

// Nothing, if chains disagree: the ESS is small for that reason alone.
std::string about_precision(const Subject& subject) {
  if (subject.worst.agreement() == Verdict::poor || subject.worst.precision() == Verdict::good) return "";
  return fmt::format(
      "{} {} worth only {:.0f} independent draws (smallest ESS): the Monte Carlo error is up to {:.0f} % of the "
      "posterior sd.",
      subject.name, subject.plural ? "are" : "is", subject.worst.ess, 100 / std::sqrt(subject.worst.ess));
}

std::string chain_means(const Quantity& q) {
  if (q.chain_means.size() < 2 || q.constant) return "";
  std::string text = ": chain means ";
  if (static_cast<std::int64_t>(q.chain_means.size()) > enough_chains) {
    const auto [least, most] = std::minmax_element(q.chain_means.begin(), q.chain_means.end());
    return text + fmt::format("{:.1f} to {:.1f}", *least, *most);
  }
  for (std::size_t c = 0; c < q.chain_means.size(); ++c)
    text += fmt::format("{}{:.1f}", c == 0 ? "" : ", ", q.chain_means[c]);
  return text;
}

// The next larger multiple of half a unit of the first digit.
std::int64_t round_number_above(double x) {
  const double step = std::max(1.0, 0.5 * std::pow(10, std::floor(std::log10(x))));
  return static_cast<std::int64_t>(step * std::ceil(x / step));
}

std::string remedy(const RunInfo& info, const std::string& run_dir, const Diagnosis& diagnosis,
                   const WorstCase& worst) {
  if (info.updates > 0) return "An update does not sample the old data again. For that, fit all the data.";
  constexpr double most = 20;  // beyond that an estimate from these draws means nothing
  const double planned = static_cast<double>(std::max<std::int64_t>(info.options.sweeps - info.options.burn_in, 1));
  const double chains = static_cast<double>(diagnosis.chains.size());
  const bool more_chains = info.options.chains < enough_chains;
  const double shortfall = worst.shortfall(more_chains ? static_cast<double>(enough_chains) / chains : 1);
  const double factor = std::clamp(shortfall, 1.0, most);
  const double needed = factor * static_cast<double>(diagnosis.draws);
  if (diagnosis.status != "complete" && needed <= planned) return "";  // the rest of the run may do
  const std::string flag = more_chains ? fmt::format("--chains {}", enough_chains) : "";
  if (needed <= planned && (!more_chains || chains == 1)) return "";  // a single chain was told so before
  if (needed <= planned) return fmt::format("Fit again with {}: judging from the numbers above, that is enough.", flag);
  const std::int64_t sweeps = round_number_above(needed * static_cast<double>(info.options.sweeps) / planned);
  const std::string more = shortfall > most ? " or more" : "";
  const std::string lengthen = fmt::format("'ztp resume {} --sweeps {}'{}", run_dir, sweeps, more);
  const std::string text =
      more_chains ? fmt::format("Fit again with --sweeps {}{} and {}, or lengthen this run with {}", sweeps, more, flag,
                                lengthen)
                  : "Continue with " + lengthen;
  if (shortfall > most && more_chains)
    return text + ". It may take more: chains that disagree do not show how many sweeps they need.";
  if (shortfall > most)
    return text + fmt::format(
                      ". If the chains still disagree then, fit with more of them (--chains {}), so that the mean over "
                      "chains becomes more precise.",
                      2 * info.options.chains);
  return text + fmt::format(": judging from the numbers above, {:.1f} times as many sweeps are enough.", factor);
}

std::string about_few_draws(const RunInfo& info, const std::string& run_dir, const Diagnosis& diagnosis) {
  const std::int64_t planned = info.options.sweeps - info.options.burn_in;
  const std::string text =
      fmt::format("Too few draws to judge (a chain has fewer than {} sweeps after burn-in)", fewest_sweeps);
  if (diagnosis.status != "complete" && planned >= static_cast<std::int64_t>(fewest_sweeps)) return text + ".";
  if (info.updates > 0) return text + ": update with --sweeps 100.";
  return text + fmt::format(": continue with 'ztp resume {} --sweeps 500'.", run_dir);
}

std::string about_one_chain(const RunInfo& info) {
  if (info.options.chains > 1)
    return "Only one chain so far: its drift can be judged, but not whether chains from different starts agree.";
  return "Only one chain: its drift can be judged, but not whether chains from different starts agree. Fit again with "
         "--chains 4.";
}

// An update has no log-likelihood: it does not look at the old data.
bool recorded(const Quantity& q) {
  return !std::all_of(q.chain_means.begin(), q.chain_means.end(), [](double mean) { return std::isnan(mean); });
}

std::string why_poor(const WorstCase& worst, bool one_chain) {
  if (worst.unknown) return "too few draws, or numbers that are not finite";
  if (worst.agreement() == Verdict::poor)
    return fmt::format("{}, R-hat {}", one_chain ? "it drifts within the chain" : "the chains do not agree",
                       r_hat_text(worst.r_hat));
  return fmt::format(
      "{}R-hat {}, but there are too few effective samples: {:.0f}, and {:.0f} need {:.1f} times as "
      "many sweeps",
      one_chain ? "" : "the chains agree, ", r_hat_text(worst.r_hat), worst.ess, usable_ess,
      std::ceil(10 * usable_ess / worst.ess) / 10);
}

// Quantities that are neither predictions nor the rank.
std::string about_others(const std::vector<const Quantity*>& others, bool one_chain) {
  std::string list;
  for (const Quantity* q : others) {
    WorstCase worst;
    worst.add(*q);
    if (worst.grade() != Verdict::poor) continue;
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", q->name, why_poor(worst, one_chain));
  }
  return list.empty() ? "" : fmt::format("Do not interpret yet: {}.", list);
}

std::string about_status(const RunInfo& info, const std::string& run_dir, const Diagnosis& diagnosis) {
  std::string text;
  for (std::size_t c = 0; c < static_cast<std::size_t>(info.options.chains) && diagnosis.status != "complete"; ++c)
    if (std::find(diagnosis.chains.begin(), diagnosis.chains.end(), c) == diagnosis.chains.end())
      text += fmt::format("{}{}", text.empty() ? "" : ", ", c + 1);
  if (!text.empty()) text = fmt::format(" Left out, because not far enough yet: chain {}.", text);
  if (diagnosis.status == "interrupted")
    return fmt::format("The run was interrupted ('ztp resume {}' continues it).{}", run_dir, text);
  if (diagnosis.status == "running")
    return fmt::format("The run is not complete; this is about its draws so far.{}", text);
  return "";
}

void add_sentence(Diagnosis& diagnosis, const std::string& sentence) {
  if (!sentence.empty()) diagnosis.sentences.push_back(sentence);
}

}  // namespace

void judge(const RunInfo& info, const std::string& run_dir, Diagnosis& diagnosis) {
  add_sentence(diagnosis, about_status(info, run_dir, diagnosis));
  if (info.updates > 0 || is_online(info.options))
    add_sentence(diagnosis, fmt::format("{} approximates the posterior. The following tells how stable its draws are, "
                                        "not how close they are to the posterior. A fit with --method batch is exact.",
                                        info.updates > 0 ? "An updated run" : "An online run"));
  if (diagnosis.draws < fewest_sweeps) {
    diagnosis.verdict = diagnosis.predictions = diagnosis.rank = Verdict::too_short;
    add_sentence(diagnosis, about_few_draws(info, run_dir, diagnosis));
    return;
  }
  const bool one_chain = diagnosis.chains.size() == 1, with_cells = !diagnosis.cells.empty();
  const Quantity& log_likelihood = diagnosis.quantities[0];
  const Quantity& occupied = diagnosis.quantities[1];
  Subject predictions = {"Predictions", true, "worst R-hat", "", "do not use them yet", {}};
  if (!with_cells) predictions = {"The log-likelihood", false, "R-hat", "", "predictions may not agree, either", {}};
  Subject rank = {
      "The occupied rank", false, "R-hat", chain_means(occupied), "do not interpret the rank, and run longer", {}};
  for (const WatchedCell& cell : diagnosis.cells) predictions.worst.add(cell.probability);
  if (!with_cells) predictions.worst.add(log_likelihood);
  rank.worst.add(occupied);
  std::vector<const Quantity*> others;
  for (const Quantity& q : diagnosis.quantities)
    if (&q != &occupied && (&q != &log_likelihood || (with_cells && recorded(q)))) others.push_back(&q);
  WorstCase all = predictions.worst;
  all.add(occupied);
  for (const Quantity* q : others) all.add(*q);

  diagnosis.predictions = predictions.worst.grade();
  diagnosis.rank = rank.worst.grade();
  diagnosis.verdict = all.grade() == Verdict::good             ? Verdict::good
                      : diagnosis.predictions == Verdict::poor ? Verdict::poor
                                                               : Verdict::usable;
  if (one_chain) {
    diagnosis.verdict = Verdict::one_chain;
    add_sentence(diagnosis, about_one_chain(info));
  }
  if (!one_chain && std::max(diagnosis.predictions, diagnosis.rank) == Verdict::good)
    add_sentence(diagnosis, "The chains agree: predictions and the rank can be used.");
  else
    add_sentence(diagnosis, about_agreement(predictions, rank, one_chain));
  add_sentence(diagnosis, about_precision(predictions));
  add_sentence(diagnosis, about_precision(rank));
  add_sentence(diagnosis, about_others(others, one_chain));
  if (all.grade() != Verdict::good) add_sentence(diagnosis, remedy(info, run_dir, diagnosis, all));
}

}  // namespace ztp
