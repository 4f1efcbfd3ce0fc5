#include "report/entity_series.hpp"

#include <fmt/format.h>

#include "report/characteristic_entities.hpp"
#include "report/numbers.hpp"

namespace ztp {
namespace {

constexpr int digits_of_bar = 6, digits_of_interval = 4;
constexpr double invisible = 1e-9;  // smaller quantiles are long numbers that nobody can see

}  // namespace

EntityParts choose_bars(ReportSource& source, std::size_t mode, const MeanFactor& u) {
  const Groups& groups = source.groups();
  EntityParts parts = characteristic_entities(source.posterior, groups, mode, u, groups.modes[mode].columns,
                                              source.shown.modes[mode].ids);
  for (std::vector<EntityPart>& of_group : parts) of_group = first_by_relevance(of_group, entities_of_component);
  return parts;
}

EntityParts choose_lines(ReportSource& source, std::size_t mode, const MeanFactor& u, std::size_t& room) {
  if (!source.shown.modes[mode].ordered) return {};
  const std::vector<std::size_t>& columns = source.groups().modes[mode].columns;
  const std::vector<std::uint32_t>& ids = source.shown.modes[mode].ids;
  const std::size_t values = columns.size() * ids.size();
  if (values > room) {
    source.notes.push_back(fmt::format("The plots of the {} over {}: {} lines of {} points are too many for a page.",
                                       source.groups().shared ? "columns" : "components",
                                       source.posterior.modes()[mode].name, columns.size(), ids.size()));
    return {};
  }
  room -= values;
  EntityParts parts(columns.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const std::uint32_t id : ids) parts[i].push_back({id, static_cast<double>(u(id, columns[i])), 0});
  return parts;
}

std::size_t EntitySeries::add(ReportSource& source, std::size_t mode, EntityParts parts) {
  const std::size_t begin = series_.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    series_.push_back({mode, places_.size(), std::move(parts[i])});
    for (const EntityPart& part : series_.back().parts)
      places_.push_back({mode, part.id, source.groups().modes[mode].columns[i]});
  }
  return begin;
}

void EntitySeries::find_intervals(ReportSource& source) {
  found_ = source.posterior.factor_intervals(places_, source.groups().chain);
}

Json EntitySeries::values(const Series& series, int digits) const {
  std::vector<double> value, low, high;
  for (std::size_t e = 0; e < series.parts.size(); ++e) {
    const double q05 = found_[series.first + e].q05;
    value.push_back(series.parts[e].value);
    low.push_back(q05 < invisible ? 0 : q05);
    high.push_back(found_[series.first + e].q95);
  }
  return {{"value", numbers(value, digits)},
          {"q05", numbers(low, digits_of_interval)},
          {"q95", numbers(high, digits_of_interval)}};
}

Json EntitySeries::bars(const ReportSource& source, std::size_t series) const {
  const Series& one = series_[series];
  Json entity = Json::array();
  for (const EntityPart& part : one.parts) entity.push_back(source.shown.modes[one.mode].place_of(part.id).value());
  Json result = {{"entity", std::move(entity)}};
  result.update(values(one, digits_of_bar));
  return result;
}

Json EntitySeries::line(std::size_t series) const {
  return values(series_[series], digits_of_interval);
}

}  // namespace ztp
