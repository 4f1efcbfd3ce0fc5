#include <fmt/format.h>

#include <algorithm>

#include "report/mean_factor.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"
#include "report/unseen_cells.hpp"

namespace ztp {
namespace {

constexpr double least_share = 0.01;
constexpr std::size_t most_components = 12;
constexpr int digits_of_profile = 3;  // there are many of them

// Which components or columns the shown entities of a mode belong to: the parts of their expected counts.
Json profiles(ReportSource& source, std::size_t k) {
  const ModeGroups& groups = source.groups().modes[k];
  const MeanFactor u(source.posterior, k, source.groups().chain);
  Json start = {0}, group = Json::array(), share = Json::array();
  std::vector<std::pair<double, std::size_t>> shares;
  for (const std::uint32_t id : source.shown.modes[k].ids) {
    const double total = u.weighted_sum(id, groups.weights);
    shares.clear();
    for (std::size_t i = 0; i < groups.columns.size(); ++i) {
      const std::size_t q = groups.columns[i];
      const double part = groups.weights[q] * static_cast<double>(u(id, q)) / total;
      if (part >= least_share) shares.emplace_back(part, groups.first + i);
    }
    std::sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    shares.resize(std::min(shares.size(), most_components));
    for (const auto& [part, i] : shares) {
      group.push_back(i);
      share.push_back(number(part, digits_of_profile));
    }
    start.push_back(group.size());
  }
  return {{"start", std::move(start)}, {"component", std::move(group)}, {"share", std::move(share)}};
}

// A cell as the page has it.
Json cell_json(const ReportSource& source, const std::uint32_t* cell) {
  Json result = Json::array();
  for (std::size_t k = 0; k < source.shown.modes.size(); ++k) result.push_back(entity_shown(source, k, cell[k]));
  return result;
}

// Why a cell is probable: [index of a component or, where these share columns, what an entry has in each mode; share].
// Parts of what is not listed are left out.
Json why_shown(ReportSource& source, const std::vector<Recommendation::Part>& parts) {
  const Groups& groups = source.groups();
  Json why = Json::array();
  for (const Recommendation::Part& part : parts) {
    if (groups.shared) {
      if (Json entry = entry_shown(source, part.columns); !entry.is_null())
        why.push_back({std::move(entry), number(part.share)});
    } else if (const std::optional<std::size_t> index = groups.index_of(0, part.component - 1)) {
      why.push_back({*index, number(part.share)});
    }
  }
  return why;
}

Json unseen_json(ReportSource& source, const UnseenCells& unseen, std::size_t e) {
  const Prediction& prediction = unseen.predictions[e];
  Json result = {{"cell", cell_json(source, unseen.cells.data() + e * source.shown.modes.size())},
                 {"probability", number(prediction.probability)},
                 {"sd", number(prediction.sd)},
                 {"q05", number(prediction.q05)},
                 {"q95", number(prediction.q95)},
                 {"why", why_shown(source, unseen.parts[e])}};
  if (unseen.held_out[e]) result["held_out"] = *unseen.held_out[e] ? 1 : 0;
  return result;
}

}  // namespace

Json entity_shown(const ReportSource& source, std::size_t mode, std::uint32_t id) {
  const std::optional<std::uint32_t> place = source.shown.modes[mode].place_of(id);
  return place ? Json(*place) : Json(source.posterior.modes()[mode].labels[id]);
}

Json entities_section(ReportSource& source) {
  if (!source.rates()) return nullptr;
  const UnseenCells unseen = find_unseen(source.run_dir, source.data(), source.posterior, source.shown, source.pool);
  Json modes = Json::array();
  for (std::size_t k = 0; k < source.shown.modes.size(); ++k) {
    Json mode = profiles(source, k), of_place = Json::object();
    for (const UnseenCells::Entity& entity : unseen.modes[k]) {
      Json cells = Json::array();
      for (const std::size_t e : entity.cells) cells.push_back(unseen_json(source, unseen, e));
      of_place.get_ref<Json::object_t&>().emplace_back(
          fmt::format("{}", source.shown.modes[k].place_of(entity.id).value()), std::move(cells));
    }
    mode["unseen"] = std::move(of_place);
    mode["unseen_of"] = unseen.modes[k].size();
    modes.push_back(std::move(mode));
  }
  return modes;
}

}  // namespace ztp
