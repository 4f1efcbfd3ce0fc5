#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/compare.hpp"
#include "report/options_shown.hpp"
#include "report/percent.hpp"

namespace ztp {
namespace {

constexpr double same = 0.8;   // an overlap above it: the same component
constexpr double alike = 0.5;  // above it: a similar one
constexpr std::size_t most_named = 5;

std::string about_entities(const ComparedRun& run) {
  std::vector<std::string> parts;
  const RunInfo& info = run.posterior.info();
  for (std::size_t k = 0; k < info.modes.size(); ++k)
    if (run.only[k] > 0) parts.push_back(fmt::format("{} of {}", run.only[k], info.modes[k].name));
  return parts.empty() ? "" : fmt::format("Entities that {} alone has: {}.", run.title, fmt::join(parts, ", "));
}

std::string about_data(const ComparedRun& a, const ComparedRun& b) {
  const RunInfo &of_a = a.posterior.info(), &of_b = b.posterior.info();
  if (of_a.fingerprint == of_b.fingerprint) return "Both were fitted to the same data.";
  const bool split = of_a.ones + of_a.test_ones == of_b.ones + of_b.test_ones && of_a.test_ones + of_b.test_ones > 0;
  return fmt::format("They were fitted to different data: {} ones in {}, {} in {}{}.", of_a.ones, a.title, of_b.ones,
                     b.title, split ? "; with the held-out ones they are as many, so it may be another split" : "");
}

std::string about_options(const RunInfo& a, const RunInfo& b) {
  const auto in_a = options_with_effect(a), in_b = options_with_effect(b);
  std::vector<std::string> parts;
  for (const OptionField* field : in_a)
    if (std::find(in_b.begin(), in_b.end(), field) != in_b.end() && field->text(a.options) != field->text(b.options))
      parts.push_back(fmt::format("{} {} and {}", field->flag(), field->text(a.options), field->text(b.options)));
  return parts.empty() ? "All options that both use are the same."
                       : fmt::format("Options that differ: {}.", fmt::join(parts, "; "));
}

double mean_occupied(const RunInfo& info) {
  double mean = 0;
  for (const auto& [components, probability] : info.rank) mean += static_cast<double>(components) * probability;
  return mean;
}

std::string about_rank(const ComparedRun& a, const ComparedRun& b) {
  return fmt::format("{} uses {:.1f} components on average, of at most {}; {} uses {:.1f}, of at most {}.", a.title,
                     mean_occupied(a.posterior.info()), a.posterior.info().options.rank, b.title,
                     mean_occupied(b.posterior.info()), b.posterior.info().options.rank);
}

std::string about_accuracy(const ComparedRun& a, const ComparedRun& b, bool test_same) {
  if (!a.metrics && !b.metrics) return "Neither has test cells: nothing can be said of accuracy.";
  if (!a.metrics || !b.metrics)
    return fmt::format("{} has no test cells: accuracies cannot be compared.", a.metrics ? b.title : a.title);
  if (!test_same)
    return "Their test cells are not the same, so that accuracies cannot be compared: fit both with the same --test, "
           "or "
           "give cells that neither has seen as --test of the report.";
  std::vector<std::string> parts;
  for (const MetricField& field : metric_fields())
    parts.push_back(fmt::format("{} {:.{}f} and {:.{}f}", field.title, *a.metrics.*field.member, field.digits,
                                *b.metrics.*field.member, field.digits));
  return fmt::format("On the same {} test cells: {} (of {} and {}).", a.metrics->ones + a.metrics->zeros,
                     fmt::join(parts, ", "), a.title, b.title);
}

void about_components(const ComparedRun& a, const ComparedRun& b, const std::vector<ComparedPair>& pairs,
                      double agreement, std::vector<std::string>& sentences) {
  std::size_t equal = 0, similar = 0;
  for (const ComparedPair& pair : pairs) {
    equal += pair.overlap > same;
    similar += pair.overlap > alike && pair.overlap <= same;
  }
  sentences.push_back(fmt::format(
      "{} of the {} components in use of {} and {} of {} are the same in both (overlap above {}){}; weighted by size, "
      "{} of both models is the same.",
      equal, a.components.size(), a.title, b.components.size(), b.title, same,
      similar > 0 ? fmt::format(", and {} are similar (above {})", similar, alike) : "", percent(agreement)));
  std::size_t named = 0, others = 0;
  for (const ComparedPair& pair : pairs) {  // largest first
    if (pair.overlap > alike) continue;
    const auto say = [&](const Component* component, double share, const ComparedRun& run, const ComparedRun& other) {
      if (component == nullptr) return;
      if (named == most_named) {
        ++others;
        return;
      }
      ++named;
      sentences.push_back(fmt::format(
          "Component {} of {} ({} of its weight) has no counterpart in {}{}.", component->number, run.title,
          percent(share), other.title,
          pair.a != nullptr && pair.b != nullptr ? fmt::format(": the nearest overlaps by {:.2f}", pair.overlap) : ""));
    };
    say(pair.a, pair.share_a, a, b);
    say(pair.b, pair.share_b, b, a);
  }
  if (others > 0) sentences.push_back(fmt::format("The same is true of {} smaller ones.", others));
}

}  // namespace

std::vector<std::string> compare_in_words(const ComparedRun& a, const ComparedRun& b,
                                          const std::vector<ComparedPair>& pairs, double agreement, bool test_same) {
  std::vector<std::string> sentences = {about_data(a, b)};
  for (const std::string& sentence : {about_entities(a), about_entities(b)})
    if (!sentence.empty()) sentences.push_back(sentence);
  sentences.push_back(about_options(a.posterior.info(), b.posterior.info()));
  sentences.push_back(about_rank(a, b));
  sentences.push_back(about_accuracy(a, b, test_same));
  about_components(a, b, pairs, agreement, sentences);
  return sentences;
}

}  // namespace ztp
