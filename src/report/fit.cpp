#include <filesystem>

#include "report/calibration.hpp"
#include "report/curves.hpp"
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
  const RunInfo& info = source.posterior.info();
  const std::string& file = source.options.test;
  const bool own = file.empty();
  if (own && info.test_ones + info.test_zeros == 0) return nullptr;
  MetricsCollector cells = source.posterior.collect(file);
  const Metrics metrics = cells.finish();
  const TestDesign design = design_of(info, own, metrics.ones, metrics.zeros);
  const bool weighted = design.zeros == TestDesign::Zeros::drawn;
  const std::vector<ReliabilityBin> plain = reliability(cells, design, false);
  const std::vector<ReliabilityBin> corrected =
      weighted ? reliability(cells, design, true) : std::vector<ReliabilityBin>();
  const CalibrationVerdict verdict = judge_calibration(weighted ? corrected : plain, design);
  return {{"source", own ? "held out" : std::filesystem::path(file).filename().string()},
          {"ones", metrics.ones},
          {"zeros", metrics.zeros},
          {"representative", design.zeros == TestDesign::Zeros::as_ones},
          {"metrics", metrics_shown(metrics)},
          {"titles", metric_titles()},
          {"roc", points(roc_curve(cells, most_curve_points))},
          {"pr", points(precision_curve(cells, most_curve_points))},
          {"reliability", bins_shown(plain)},
          {"weighted", weighted ? bins_shown(corrected) : Json(nullptr)},
          {"calibrated", verdict.calibrated},
          {"misplaced", number(verdict.misplaced, 3)},
          {"verdict", verdict.sentences}};
}

}  // namespace ztp
