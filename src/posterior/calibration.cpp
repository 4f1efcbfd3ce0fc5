#include "posterior/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/curves.hpp"
#include "evaluate/number_words.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t fewest = 30;     // ones, and zeros: with fewer nothing is judged
constexpr double tolerated = 0.05;       // part of the ones that may be expected in the wrong places
constexpr double too_wide = 0.2;         // intervals, in the same measure: they could hide anything
constexpr double tolerated_odds = 1.25;  // beyond an end of the interval: nothing to speak of

double odds(double p) {
  return p / (1 - p);
}

// How far beyond the interval of the share the expected one is.
double distance(const ReliabilityBin& bin) {
  return std::max({0.0, bin.low - bin.expected, bin.expected - bin.high});
}

bool too_low(const ReliabilityBin& bin) {
  return odds(bin.expected) * tolerated_odds < odds(bin.low);
}

bool too_high(const ReliabilityBin& bin) {
  return odds(bin.expected) > odds(bin.high) * tolerated_odds;
}

// Ones that are expected in its cells and are not there, or the other way round.
double misplaced_in(const ReliabilityBin& bin) {
  return bin.stands_for * distance(bin);
}

// "of cells that it gives 31 %, 30 % are ones", and the interval "28 % to 33 %".
struct Example {
  std::string sentence, interval;
};

Example example(const ReliabilityBin& bin) {
  const std::vector<std::string> texts = percents({bin.probability, bin.share, bin.low, bin.high});
  return {fmt::format("of the cells with probability {}, {} are ones", texts[0], texts[1]),
          fmt::format("{} to {} with 90\u00a0% certainty", texts[2], texts[3])};
}

std::string example_sentence(const ReliabilityBin& bin) {
  const Example texts = example(bin);
  return fmt::format("O{} ({}).", texts.sentence.substr(1), texts.interval);
}

// The bin whose probability is nearest to 30 %: with some ones, and right, if there is one.
const ReliabilityBin& typical(const std::vector<ReliabilityBin>& bins) {
  const auto from_30 = [](const ReliabilityBin& bin) { return std::abs(std::log(odds(bin.probability) / odds(0.3))); };
  const auto unfit = [](const ReliabilityBin& bin) { return bin.ones < 5 || too_low(bin) || too_high(bin); };
  return *std::min_element(bins.begin(), bins.end(), [&](const ReliabilityBin& a, const ReliabilityBin& b) {
    const bool bad_a = unfit(a), bad_b = unfit(b);
    return bad_a != bad_b ? bad_b : from_30(a) < from_30(b);
  });
}

// Neighbouring bins whose probabilities are wrong in the same direction, and the one that is most.
struct WrongRange {
  const ReliabilityBin *first, *last, *most;
  bool high;
};

std::vector<WrongRange> wrong_ranges(const std::vector<ReliabilityBin>& bins) {
  std::vector<WrongRange> ranges;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const ReliabilityBin& bin = bins[i];
    const bool high = too_high(bin);
    if (!high && !too_low(bin)) continue;
    if (i == 0 || ranges.empty() || ranges.back().last != &bins[i - 1] || ranges.back().high != high)
      ranges.push_back({&bin, &bin, &bin, high});
    WrongRange& range = ranges.back();
    range.last = &bin;
    if (misplaced_in(bin) > misplaced_in(*range.most)) range.most = &bin;
  }
  return ranges;
}

// "those from 60 % to 80 % are too low, those of about 90 % are too high", with `are` between a range and what is
// wrong.
std::string text_of(const std::vector<WrongRange>& ranges, const char* are) {
  std::vector<double> ends;
  for (const WrongRange& range : ranges) {
    ends.push_back(range.first->probability);
    ends.push_back(range.last->probability);
  }
  const std::vector<std::string> texts = percents(ends);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string &from = texts[2 * i], &to = texts[2 * i + 1];
    parts.push_back(fmt::format("those {}{}too {}",
                                from == to ? fmt::format("of about {}", from) : fmt::format("from {} to {}", from, to),
                                are, ranges[i].high ? "high" : "low"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Of the ranges that are wrong in one direction, an example of the worst; empty without any.
std::string worst_example(const std::vector<WrongRange>& ranges, bool high) {
  const ReliabilityBin* worst = nullptr;
  for (const WrongRange& range : ranges)
    if (range.high == high && (worst == nullptr || misplaced_in(*range.most) > misplaced_in(*worst)))
      worst = range.most;
  return worst == nullptr ? "" : example_sentence(*worst);
}

std::string about_design(const TestDesign& design, bool calibrated) {
  if (calibrated)
    return "They are calibrated with the held-out cells. Each cell was judged with a calibration map fitted without "
           "it.";
  if (design.part_of_ones < 0.01 || (design.missing && design.zeros != TestDesign::Zeros::drawn)) return "";
  return fmt::format(
      "The fit did not know the test ones ({} of all{}), so its probabilities must be slightly too low. This is taken "
      "into account.",
      percent(design.part_of_ones), design.missing ? "" : ", and took them for zeros");
}

// Nothing, if the model is better in both.
std::string about_popularity(const Evaluation& metrics) {
  const Metrics& popularity = metrics.popularity;
  const bool ranks = metrics.auc_roc > popularity.auc_roc, predicts = metrics.log_loss < popularity.log_loss;
  if (ranks && predicts) return "";
  return fmt::format(
      "The model does not beat popularity: {}{}{}.",
      ranks ? "" : fmt::format("AUC-ROC {:.4f} against {:.4f}", metrics.auc_roc, popularity.auc_roc),
      ranks || predicts ? "" : ", ",
      predicts ? "" : fmt::format("log-loss {:.3g} against {:.3g}", metrics.log_loss, popularity.log_loss));
}

}  // namespace

std::vector<ReliabilityBin> reliability(MetricsCollector& cells, const TestDesign& design, bool calibrated,
                                        bool tensor) {
  std::vector<ReliabilityBin> result;
  for (const CalibrationBin& bin : cells.calibration_bins(tensor)) {
    const double ones = static_cast<double>(bin.ones), zeros = bin.zero_weight;
    ReliabilityBin point;
    point.probability = bin.probability / (ones + zeros);
    point.expected = calibrated ? point.probability : expected_share(point.probability, design);
    point.share = ones / (ones + zeros);
    point.stands_for = ones + zeros;
    // Ones and zeros are two samples. Given how many cells there are in all, the ones are binomial, and the odds of
    // their share are those of the tensor times a constant. Zeros of different weights are worth fewer of equal ones.
    const double worth = bin.zeros == 0 ? 0 : zeros * zeros / bin.squared_zero_weight;
    const auto [low, high] = wilson_interval(bin.ones, bin.ones + static_cast<std::uint64_t>(std::llround(worth)));
    point.low = with_more_zeros(low, worth > 0 ? zeros / worth : 1);
    point.high = with_more_zeros(high, worth > 0 ? zeros / worth : 1);
    point.ones = bin.ones;
    point.zeros = bin.zeros;
    result.push_back(point);
  }
  return result;
}

CalibrationVerdict judge_calibration(const std::vector<ReliabilityBin>& bins, const TestDesign& design,
                                     bool calibrated_by_map) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t ones = 0, zeros = 0;
  double misplaced = 0, uncertain = 0;
  for (const ReliabilityBin& bin : bins) {
    ones += bin.ones;
    zeros += bin.zeros;
    misplaced += misplaced_in(bin);
    uncertain += bin.stands_for * (bin.high - bin.low) / 2;
  }
  if (ones < fewest && zeros >= fewest)
    return {"unknown",
            {fmt::format("Calibration cannot be judged from {} ones; at least {} are needed.", ones, fewest),
             "Hold out more cells."},
            none};
  if (ones < fewest || zeros < fewest)
    return {
        "unknown",
        {fmt::format("Calibration cannot be judged from {} ones and {} zeros.", ones, zeros), "Hold out more cells."},
        none};
  misplaced /= static_cast<double>(ones);
  uncertain /= static_cast<double>(ones);
  const std::vector<WrongRange> wrong = wrong_ranges(bins);
  const std::string except = wrong.empty() ? "" : ", except " + text_of(wrong, ", which are ");
  std::string calibrated = "no";
  std::vector<std::string> sentences;
  if (misplaced > tolerated) {
    sentences.push_back(fmt::format("Probabilities cannot all be taken literally: {}.",
                                    wrong.empty()
                                        ? percent(misplaced) + " of the ones are expected at the wrong probabilities"
                                        : text_of(wrong, " are ")));
  } else if (uncertain > too_wide) {
    calibrated = "unknown";
    sentences = {fmt::format("There are too few test cells to be sure, but the probabilities seem right{}.", except),
                 example_sentence(typical(bins))};
  } else if (!wrong.empty()) {
    calibrated = "yes";
    sentences = {fmt::format("Probabilities can be taken literally{}.", except), example_sentence(typical(bins))};
  } else {
    const Example good = example(typical(bins));
    calibrated = "yes";
    sentences = {fmt::format("Probabilities can be taken literally: {}.", good.sentence),
                 fmt::format("The share is {}.", good.interval)};
  }
  for (const bool high : {true, false}) sentences.push_back(worst_example(wrong, high));
  sentences.push_back(about_design(design, calibrated_by_map));
  std::erase(sentences, "");
  return {calibrated, sentences, misplaced};
}

Calibration::Calibration(Posterior& posterior, TestScores test, bool own)
    : scores(std::move(test)),
      metrics{scores.model.finish(), scores.popularity.finish(), scores.counts},
      design(design_of(posterior.info(), own, metrics.ones, metrics.zeros)),
      plain(reliability(scores.model, design, scores.calibrated, false)),
      tensor(reliability(scores.model, design, scores.calibrated, true)),
      verdict(judge_calibration(tensor, design, scores.calibrated)) {
  if (own && !scores.calibrated) verdict.sentences.push_back(posterior.calibration_words());
  metrics.misplaced = verdict.misplaced;
  if (metrics.ones > 0 && metrics.zeros > 0) verdict.against_popularity = about_popularity(metrics);
  metrics.popularity.misplaced =
      judge_calibration(reliability(scores.popularity, design, scores.calibrated, true), design, scores.calibrated)
          .misplaced;
}

}  // namespace ztp
