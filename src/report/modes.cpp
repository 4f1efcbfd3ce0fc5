#include "report/listed_components.hpp"
#include "report/numbers.hpp"
#include "report/relevance.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

// What the shown entities of a mode have of all components together.
std::vector<double> overall_parts(Posterior& posterior, std::size_t k, const std::vector<std::uint32_t>& ids) {
  const std::size_t chain = chain_shown(posterior);
  const std::vector<double> weights = posterior.mean_weights(chain);
  const MeanFactor u(posterior, k, chain);
  std::vector<double> parts;
  for (const std::uint32_t id : ids) parts.push_back(overall_part(u, id, weights));
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
                     {"missing", source.posterior.info().modes[k].missing_entities},
                     {"labels", std::move(labels)},
                     {"ones", std::move(ones)},
                     {"overall", nullptr}});
    if (source.rates()) modes.back()["overall"] = numbers(overall_parts(source.posterior, k, shown.ids));
  }
  return modes;
}

}  // namespace ztp
