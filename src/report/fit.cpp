#include <fmt/format.h>

#include <filesystem>

#include "evaluate/curves.hpp"
#include "posterior/verdicts.hpp"
#include "report/metrics_shown.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_curve_points = 400;

Json points(const Curve& curve) {
  Json result = Json::array();
  for (const auto& [x, y] : curve) result.push_back({number(x), number(y)});
  return result;
}

Json bins_shown(const std::vector<ReliabilityBin>& bins) {
  Json result = Json::array();
  for (const ReliabilityBin& bin : bins)
    result.push_back({{"probability", number(bin.probability)},
                      {"expected", number(bin.expected)},
                      {"share", number(bin.share)},
                      {"low", number(bin.low)},
                      {"high", number(bin.high)},
                      {"cells", bin.ones + bin.zeros}});
  return result;
}

// Nothing, if there is none, or it would take too much memory.
Json head_shown(ReportSource& source, const Metrics& metrics) {
  Json result = Json::array();
  if (!source.rates() || metrics.ones == 0) return result;
  try {
    for (const HeadOfList& head : source.posterior.head({10, 100, 1000}, source.options.test))
      result.push_back({head.cells, number(head.expected), head.found});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::config) throw;
    source.notes.push_back(
        "How many held-out ones are among the most probable unseen cells: the search for these cells would take too "
        "much "
        "memory.");
  }
  return result;
}

}  // namespace

Json metrics_shown(const Metrics& metrics) {
  Json result = Json::object();
  for (const MetricField& field : metric_fields()) result[field.key] = number(metrics.*field.member, precise);
  return result;
}

Json metric_titles() {
  Json result = Json::array();
  for (const MetricField& field : metric_fields()) result.push_back({field.key, field.title, field.digits});
  return result;
}

Json fit_section(ReportSource& source) {
  if (source.calibration() == nullptr) return nullptr;
  Calibration& found = *source.calibration();
  const std::string& file = source.options.test;
  return {{"source", file.empty() ? "held out" : std::filesystem::path(file).filename().string()},
          {"ones", found.metrics.ones},
          {"zeros", found.metrics.zeros},
          {"representative", found.design.zeros == TestDesign::Zeros::as_ones},
          {"metrics", metrics_shown(found.metrics)},
          {"popularity", metrics_shown(found.metrics.popularity)},
          {"calibrated_by_map", found.scores.calibrated},
          {"head", head_shown(source, found.metrics)},
          {"titles", metric_titles()},
          {"roc", points(roc_curve(found.scores.model, most_curve_points))},
          {"pr", points(precision_curve(found.scores.model, most_curve_points))},
          {"reliability", bins_shown(found.plain)},
          {"weighted", bins_shown(found.tensor)},
          {"calibrated", found.verdict.calibrated},
          {"misplaced", number(found.verdict.misplaced, 3)},
          {"verdict", found.verdict.sentences}};
}

Json verdicts_section(ReportSource& source) {
  const Calibration* found = source.calibration();
  Json result = Json::array();
  for (const RunVerdict& verdict :
       judge_run(source.run_dir, source.posterior.info(), found == nullptr ? nullptr : &found->verdict))
    result.push_back({{"question", verdict.question}, {"answer", name_of(verdict.answer)}, {"words", verdict.words}});
  return result;
}

}  // namespace ztp
