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
constexpr double like_enough = 1.5;      // shares of ones that are taken for the same

double odds(double p) {
  return p / (1 - p);
}

double from_odds(double o) {
  return std::isinf(o) ? 1 : o / (1 + o);
}

// The part of a share among cells if there are `times` as many zeros.
double with_more_zeros(double share, double times) {
  return from_odds(odds(share) / times);
}

// Cells that were observed when the fit held some out.
double observed_cells(const RunInfo& info) {
  double cells = 1;
  for (const RunInfo::ModeInfo& mode : info.modes) cells *= mode.size - mode.missing_entities;
  const std::uint64_t tested = info.options.holdout_as == HoldoutAs::missing ? info.test_ones + info.test_zeros : 0;
  return cells - static_cast<double>(info.missing_cells - std::min(info.missing_cells, tested));
}

// What the share of ones must be among cells that have this probability, if the model is right about the data it has
// seen.
double expected_share(double probability, const TestDesign& design) {
  const double known = 1 - design.part_of_ones;
  if (!design.missing) return std::min(1.0, probability / known);  // of the ones, so many were seen, and no more zeros
  return with_more_zeros(probability, known / (1 - design.part_of_zeros));
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
  return {fmt::format("of cells that it gives {}, {} are ones", texts[0], texts[1]),
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

std::string about_design(const TestDesign& design) {
  if (design.part_of_ones < 0.01 || (design.missing && design.zeros != TestDesign::Zeros::drawn)) return "";
  return fmt::format(
      "The fit did not know the tested ones, {} of all{}, so that it must give a little too little: that is allowed "
      "for.",
      percent(design.part_of_ones), design.missing ? "" : ", and took them for zeros");
}

}  // namespace

TestDesign design_of(const RunInfo& info, bool own, std::uint64_t ones, std::uint64_t zeros) {
  TestDesign design;
  const double known_ones = static_cast<double>(info.ones), tested = static_cast<double>(ones);
  const double all_zeros = std::max(observed_cells(info) - known_ones - tested, static_cast<double>(zeros));
  design.part_of_zeros = all_zeros > 0 ? static_cast<double>(zeros) / all_zeros : 0;
  design.part_of_ones = tested / (tested + known_ones);
  design.missing = own && info.options.holdout_as == HoldoutAs::missing;
  design.zero_stands_for = design.part_of_ones / design.part_of_zeros;
  // The fit's own hold-out draws zeros, and how many is known, whatever the shares look like.
  if (own && info.options.test.empty() && info.updates == 0 && ones > 0 && zeros > 0) {
    design.zeros = TestDesign::Zeros::drawn;
    return design;
  }
  // Of a file it is guessed. Shares of ones that differ by chance alone do, too, where there are few.
  const double expected = (tested + static_cast<double>(zeros)) * (tested + known_ones) / (observed_cells(info));
  const bool alike = design.zero_stands_for > 1 / like_enough && design.zero_stands_for < like_enough;
  if (alike || std::abs(tested - expected) < 4 * std::sqrt(expected)) design.zeros = TestDesign::Zeros::as_ones;
  return design;
}

std::vector<ReliabilityBin> reliability(MetricsCollector& cells, const TestDesign& design, bool weighted) {
  std::vector<CalibrationBin> bins = cells.calibration_bins();
  if (weighted) {  // as much room for the ones as for the zeros, or most bins would be of zeros alone
    double ones = 0, zeros = 0;
    for (const CalibrationBin& bin : bins) {
      ones += static_cast<double>(bin.ones);
      zeros += static_cast<double>(bin.zeros);
    }
    if (zeros > 0) bins = cells.calibration_bins(ones / zeros);
  }
  const double times = weighted ? design.zero_stands_for : 1;
  std::vector<ReliabilityBin> result;
  for (const CalibrationBin& bin : bins) {
    const double ones = static_cast<double>(bin.ones), zeros = times * static_cast<double>(bin.zeros);
    ReliabilityBin point;
    point.probability =
        (bin.probability_of_ones + times * (bin.probability - bin.probability_of_ones)) / (ones + zeros);
    point.expected = expected_share(point.probability, design);
    point.share = ones / (ones + zeros);
    point.stands_for = ones + zeros;
    // Ones and zeros are two samples. Given how many cells there are in all, the ones are binomial, and the odds of
    // their share are those of the tensor times a constant.
    const auto [low, high] = wilson_interval(bin.ones, bin.ones + bin.zeros);
    point.low = with_more_zeros(low, times);
    point.high = with_more_zeros(high, times);
    point.ones = bin.ones;
    point.zeros = bin.zeros;
    result.push_back(point);
  }
  return result;
}

CalibrationVerdict judge_calibration(const std::vector<ReliabilityBin>& bins, const TestDesign& design) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t ones = 0, zeros = 0;
  double misplaced = 0, uncertain = 0;
  for (const ReliabilityBin& bin : bins) {
    ones += bin.ones;
    zeros += bin.zeros;
    misplaced += misplaced_in(bin);
    uncertain += bin.stands_for * (bin.high - bin.low) / 2;
  }
  if (design.zeros == TestDesign::Zeros::unknown)
    return {
        "unknown",
        {"Calibration cannot be judged: how the test cells were drawn is not known.",
         fmt::format("{} of them are ones, which is not the share of the tensor.",
                     percent(static_cast<double>(ones) / static_cast<double>(ones + zeros))),
         "Hold cells out with --holdout, or whole cells with 'ztp split --protocol cells' and give them as --test."},
        none};
  if (ones < fewest || zeros < fewest)
    return {"unknown",
            {fmt::format("Calibration cannot be judged from {} ones and {} zeros.", ones, zeros), "Hold out more."},
            none};
  misplaced /= static_cast<double>(ones);
  uncertain /= static_cast<double>(ones);
  const std::vector<WrongRange> wrong = wrong_ranges(bins);
  const std::string except = wrong.empty() ? "" : ", except " + text_of(wrong, ", which are ");
  std::string calibrated = "no";
  std::vector<std::string> sentences;
  if (misplaced > tolerated) {
    sentences.push_back(fmt::format(
        "Probabilities cannot all be taken literally: {}.",
        wrong.empty() ? percent(misplaced) + " of the ones are expected where they are not" : text_of(wrong, " are ")));
  } else if (uncertain > too_wide) {
    calibrated = "unknown";
    sentences = {
        fmt::format(
            "The test cells are too few to tell, though nothing speaks against taking probabilities literally{}.",
            except),
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
  sentences.push_back(about_design(design));
  std::erase(sentences, "");
  return {calibrated, sentences, misplaced};
}

Calibration::Calibration(Posterior& posterior, const std::string& file)
    : cells(posterior.collect(file)),
      metrics(cells.finish()),
      design(design_of(posterior.info(), file.empty(), metrics.ones, metrics.zeros)),
      plain(reliability(cells, design, false)) {
  const bool drawn = design.zeros == TestDesign::Zeros::drawn;
  if (drawn) weighted = reliability(cells, design, true);
  verdict = judge_calibration(drawn ? weighted : plain, design);
}

}  // namespace ztp
