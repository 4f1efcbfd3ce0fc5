#include "report/numbers.hpp"
#include "report/relevance.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

// What the shown entities of a mode have of all groups together.
std::vector<double> overall_parts(ReportSource& source, std::size_t k) {
  const MeanFactor u(source.posterior, k, source.groups().chain);
  std::vector<double> parts;
  for (const std::uint32_t id : source.shown.modes[k].ids)
    parts.push_back(overall_part(u, id, source.groups().modes[k].weights));
  return parts;
}

}  // namespace

Json modes_section(ReportSource& source) {
  Json modes = Json::array();
  for (std::size_t k = 0; k < source.shown.modes.size(); ++k) {
    const ShownEntities::ModeEntities& shown = source.shown.modes[k];
    const Mode& mode = source.posterior.modes()[k];
    Json labels = Json::array(), ones = Json::array();
    for (const std::uint32_t id : shown.ids) {
      labels.push_back(mode.labels[id]);
      ones.push_back(shown.ones[id]);
    }
    modes.push_back({{"name", mode.name},
                     {"size", mode.labels.size()},
                     {"ordered", shown.ordered},
                     {"missing", source.posterior.info().modes[k].missing_slices},
                     {"labels", std::move(labels)},
                     {"ones", std::move(ones)},
                     {"overall", nullptr}});
    if (source.rates()) modes.back()["overall"] = numbers(overall_parts(source, k));
  }
  return modes;
}

}  // namespace ztp
