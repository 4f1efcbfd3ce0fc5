#include <filesystem>

#include "posterior/verdicts.hpp"
#include "evaluate/curves.hpp"
#include "report/metrics_shown.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"

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
          {"titles", metric_titles()},
          {"roc", points(roc_curve(found.cells, most_curve_points))},
          {"pr", points(precision_curve(found.cells, most_curve_points))},
          {"reliability", bins_shown(found.plain)},
          {"weighted", found.weighted.empty() ? Json(nullptr) : bins_shown(found.weighted)},
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
