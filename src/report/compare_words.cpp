#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/compare.hpp"
#include "evaluate/number_words.hpp"
#include "report/options_shown.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_named = 5;

std::string about_entities(const ComparedRun& run) {
  std::vector<std::string> parts;
  const RunInfo& info = run.posterior.info();
  for (std::size_t k = 0; k < info.modes.size(); ++k)
    if (run.only[k] > 0) parts.push_back(fmt::format("{} of {}", run.only[k], info.modes[k].name));
  return parts.empty() ? "" : fmt::format("Entities that only {} has: {}.", run.title, fmt::join(parts, ", "));
}

std::string about_data(const ComparedRun& a, const ComparedRun& b) {
  const RunInfo &of_a = a.posterior.info(), &of_b = b.posterior.info();
  if (of_a.fingerprint == of_b.fingerprint) return "Both were fitted to the same data.";
  const bool split = of_a.ones + of_a.test_ones == of_b.ones + of_b.test_ones && of_a.test_ones + of_b.test_ones > 0;
  return fmt::format(
      "They were fitted to different data: {} ones in {}, {} in {}{}.", grouped(of_a.ones), a.title, grouped(of_b.ones),
      b.title,
      split ? "; with the held-out ones included the numbers are equal, so it may be another split of the same data"
            : "");
}

std::string about_options(const RunInfo& a, const RunInfo& b) {
  const auto in_a = options_with_effect(a), in_b = options_with_effect(b);
  std::vector<std::string> parts;
  for (const OptionField* field : in_a)
    if (std::find(in_b.begin(), in_b.end(), field) != in_b.end() && field->text(a.options) != field->text(b.options))
      parts.push_back(fmt::format("{} {} and {}", field->flag(), field->text(a.options), field->text(b.options)));
  return parts.empty() ? "All options that both use have the same values."
                       : fmt::format("Options that differ: {}.", fmt::join(parts, "; "));
}

double mean_occupied(const RunInfo& info) {
  double mean = 0;
  for (const auto& [components, probability] : info.rank) mean += static_cast<double>(components) * probability;
  return mean;
}

std::string about_rank(const ComparedRun& a, const ComparedRun& b) {
  return fmt::format("{} uses {:.1f} of at most {} components on average; {} uses {:.1f} of at most {}.", a.title,
                     mean_occupied(a.posterior.info()), a.posterior.info().options.rank, b.title,
                     mean_occupied(b.posterior.info()), b.posterior.info().options.rank);
}

std::string about_accuracy(const ComparedRun& a, const ComparedRun& b, bool test_same) {
  if (!a.metrics && !b.metrics) return "Neither has test cells, so their accuracy cannot be compared.";
  if (!a.metrics || !b.metrics)
    return fmt::format("{} has no test cells, so the accuracy cannot be compared.", a.metrics ? b.title : a.title);
  if (!test_same)
    return "Their test cells are not the same, so the accuracy cannot be compared. Fit both with the same --test, or "
           "give the report a --test file with cells that neither has seen.";
  std::vector<std::string> parts;
  for (const MetricField& field : metric_fields())
    parts.push_back(fmt::format("{} {:.{}f} and {:.{}f}", field.title, *a.metrics.*field.member, field.digits,
                                *b.metrics.*field.member, field.digits));
  return fmt::format("On the same {} test cells: {} (for {} and {}).", grouped(a.metrics->ones + a.metrics->zeros),
                     fmt::join(parts, ", "), a.title, b.title);
}

std::string about_components(const ComparedRun& a, const ComparedRun& b, const std::vector<ComparedPair>& pairs,
                             std::optional<double> agreement) {
  if (!agreement)
    return fmt::format("{} has {}s and {} has {}s: they cannot be matched.", a.title, a.word(), b.title, b.word());
  const std::string word = a.word();
  std::size_t equal = 0, similar = 0;
  for (const ComparedPair& pair : pairs) {
    if (pair.a == nullptr || pair.b == nullptr) continue;
    ++(pair.overlap >= same_overlap ? equal : similar);
  }
  return fmt::format(
      "{} the same in both (overlap {} or more), out of {} in use in {} and {} in {}{}. Weighted by size, {} of both "
      "models is the same.",
      equal == 1 ? "1 " + word + " is" : fmt::format("{} {}s are", equal, word), same_overlap, a.components.size(),
      a.title, b.components.size(), b.title,
      similar > 0
          ? fmt::format("; {} more {} similar ({} or more)", similar, similar == 1 ? "is" : "are", alike_overlap)
          : "",
      percent(*agreement));
}

// Those of `run` that have no counterpart, largest first.
std::string about_unmatched(const ComparedRun& run, const ComparedRun& other, const std::vector<ComparedPair>& pairs,
                            bool first) {
  std::vector<const ComparedPair*> alone;
  for (const ComparedPair& pair : pairs)
    if ((first ? pair.b : pair.a) == nullptr) alone.push_back(&pair);
  if (alone.empty()) return "";
  const std::size_t others = alone.size() - std::min(alone.size(), most_named);
  alone.resize(alone.size() - others);
  std::vector<double> shares;
  for (const ComparedPair* pair : alone) shares.push_back(first ? pair->share_a : pair->share_b);
  const std::vector<std::string> texts = percents(shares);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const ComparedPair& pair = *alone[i];
    const std::string nearest = pair.nearest != nullptr
                                    ? fmt::format("; the nearest unmatched one is {}, with an overlap of {:.2f}",
                                                  pair.nearest->number, pair.overlap)
                                    : "";
    parts.push_back(fmt::format("{} ({} of its weight{})", (first ? pair.a : pair.b)->number, texts[i], nearest));
  }
  const std::string rest = others == 0   ? ""
                           : others == 1 ? ", and one smaller one"
                                         : fmt::format(", and {} smaller ones", others);
  return fmt::format("{} of {} that have no counterpart in {}: {}{}.", run.shared ? "Columns" : "Components", run.title,
                     other.title, fmt::join(parts, ", "), rest);
}

}  // namespace

std::vector<std::string> compare_in_words(const ComparedRun& a, const ComparedRun& b,
                                          const std::vector<ComparedPair>& pairs, std::optional<double> agreement,
                                          bool test_same) {
  std::vector<std::string> sentences = {about_data(a, b),
                                        about_entities(a),
                                        about_entities(b),
                                        about_options(a.posterior.info(), b.posterior.info()),
                                        about_rank(a, b),
                                        about_accuracy(a, b, test_same),
                                        about_components(a, b, pairs, agreement),
                                        about_unmatched(a, b, pairs, true),
                                        about_unmatched(b, a, pairs, false)};
  std::erase(sentences, "");
  return sentences;
}

}  // namespace ztp
