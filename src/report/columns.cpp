#include <fmt/format.h>

#include "report/entity_series.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_entries = 5000;  // of the core

Json matrices_of(const Groups& groups) {
  Json matrices = Json::array();
  for (std::size_t f = 0; f < groups.layout.matrices(); ++f) {
    Json modes = Json::array();
    for (std::size_t k = 0; k < groups.layout.modes(); ++k)
      if (groups.layout.matrix(k) == f) modes.push_back(k);
    matrices.push_back(
        {{"modes", std::move(modes)}, {"columns", groups.layout.size(f).columns}, {"own", groups.layout.is_one_hot(f)}});
  }
  return matrices;
}

// The list of columns, and their entities as bars and lines.
void add_columns(ReportSource& source, Json& section) {
  const Groups& groups = source.groups();
  EntitySeries series;
  std::vector<std::size_t> bars, lines;  // of each column that is listed, its series
  std::vector<bool> has_line;
  std::size_t room = most_in_lines;
  for (std::size_t f = 0; f < groups.layout.matrices(); ++f) {
    const std::size_t k = groups.layout.first_mode(f), L = groups.modes[k].columns.size();
    if (L == 0) continue;
    const MeanFactor u(source.posterior, k, groups.chain);
    const std::size_t first_bars = series.add(source, k, choose_bars(source, k, u));
    EntityParts of_lines = choose_lines(source, k, u, room);
    const bool drawn = !of_lines.empty();
    const std::size_t first_line = series.add(source, k, std::move(of_lines));
    for (std::size_t i = 0; i < L; ++i) {
      const Column& column = groups.columns[groups.modes[k].first + i];
      section["list"].push_back({{"matrix", f},
                                 {"number", column.number},
                                 {"weight", number(column.weight, precise)},
                                 {"q05", number(column.weight_q05, precise)},
                                 {"q95", number(column.weight_q95, precise)},
                                 {"network_only", static_cast<bool>(groups.network_only[groups.modes[k].first + i])}});
      bars.push_back(first_bars + i);
      lines.push_back(first_line + i);
      has_line.push_back(drawn);
    }
  }
  series.find_intervals(source);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    section["bars"].push_back(series.bars(source, bars[i]));
    section["lines"].push_back(has_line[i] ? series.line(lines[i]) : Json());
  }
}

// What an entry has in mode k: the index of its column in the list or, of a one-hot mode, the place or the label of its
// entity.
Json column_of(const ReportSource& source, const Groups& groups, const CoreEntry& entry, std::size_t k) {
  const std::size_t q = entry.columns[k] - 1;
  if (groups.layout.is_one_hot(groups.layout.matrix(k))) {
    const auto id = static_cast<std::uint32_t>(q);
    const std::optional<std::uint32_t> place = source.shown.modes[k].place_of(id);
    return place ? Json(*place) : Json(source.posterior.modes()[k].labels[id]);
  }
  const std::vector<std::size_t>& columns = groups.modes[k].columns;
  const auto found = std::find(columns.begin(), columns.end(), q);
  return groups.modes[k].first + static_cast<std::size_t>(found - columns.begin());
}

Json core_of(ReportSource& source) {
  const std::vector<CoreEntry> core = source.posterior.core(source.groups().chain);
  const std::size_t shown = std::min(core.size(), most_entries);
  if (shown < core.size())
    source.notes.push_back(
        fmt::format("Of the core's {} entries, the {} with most weight are shown.", core.size(), shown));
  Json entries = Json::array(), weight = Json::array(), q05 = Json::array(), q95 = Json::array();
  for (std::size_t e = 0; e < shown; ++e) {
    Json columns = Json::array();
    for (std::size_t k = 0; k < core[e].columns.size(); ++k)
      columns.push_back(column_of(source, source.groups(), core[e], k));
    entries.push_back(std::move(columns));
    weight.push_back(number(core[e].weight, precise));
    q05.push_back(number(core[e].weight_q05, precise));
    q95.push_back(number(core[e].weight_q95, precise));
  }
  return {{"of", core.size()},
          {"entries", std::move(entries)},
          {"weight", std::move(weight)},
          {"q05", std::move(q05)},
          {"q95", std::move(q95)}};
}

}  // namespace

Json columns_section(ReportSource& source) {
  if (!source.rates() || !source.groups().shared) return nullptr;
  Json section = {{"chain", source.groups().chain + 1},
                  {"matrices", matrices_of(source.groups())},
                  {"list", Json::array()},
                  {"bars", Json::array()},
                  {"lines", Json::array()}};
  add_columns(source, section);
  section["core"] = core_of(source);
  return section;
}

}  // namespace ztp
