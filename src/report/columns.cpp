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
    matrices.push_back({{"modes", std::move(modes)},
                        {"columns", groups.layout.size(f).columns},
                        {"own", groups.layout.is_one_hot(f)}});
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
                                 {"stability", number(column.stability)},
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

Json core_of(ReportSource& source) {
  const std::vector<CoreEntry> core = source.posterior.core(source.groups().chain);
  const std::size_t shown = std::min(core.size(), most_entries);
  if (shown < core.size())
    source.notes.push_back(
        fmt::format("Some entries of the core: of {}, the {} with the most weight are shown.", core.size(), shown));
  Json entries = Json::array(), weight = Json::array(), q05 = Json::array(), q95 = Json::array(),
       stability = Json::array();
  for (std::size_t e = 0; e < shown; ++e) {
    Json entry = entry_shown(source, core[e].columns);
    if (entry.is_null()) continue;
    entries.push_back(std::move(entry));
    weight.push_back(number(core[e].weight, precise));
    q05.push_back(number(core[e].weight_q05, precise));
    q95.push_back(number(core[e].weight_q95, precise));
    stability.push_back(number(core[e].stability));
  }
  return {{"of", core.size()},     {"entries", std::move(entries)}, {"weight", std::move(weight)},
          {"q05", std::move(q05)}, {"q95", std::move(q95)},         {"stability", std::move(stability)}};
}

}  // namespace

Json entry_shown(ReportSource& source, const std::vector<std::size_t>& columns) {
  const Groups& groups = source.groups();
  Json entry = Json::array();
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::size_t q = columns[k] - 1;
    const std::optional<std::size_t> index = groups.index_of(k, q);
    if (groups.layout.is_one_hot(groups.layout.matrix(k)))
      entry.push_back(entity_shown(source, k, static_cast<std::uint32_t>(q)));
    else if (index)
      entry.push_back(*index);
    else
      return nullptr;
  }
  return entry;
}

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
