#include <fmt/format.h>

#include <algorithm>

#include "report/listed_components.hpp"
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

// A cell as the page has it: places, and the labels of entities that have none.
Json cell_json(const ReportSource& source, const std::uint32_t* cell) {
  Json result = Json::array();
  for (std::size_t k = 0; k < source.shown.modes.size(); ++k) {
    const std::optional<std::uint32_t> place = source.shown.modes[k].place_of(cell[k]);
    if (place)
      result.push_back(*place);
    else
      result.push_back(source.posterior.modes()[k].labels[cell[k]]);
  }
  return result;
}

Json unseen_json(const ReportSource& source, const UnseenCells& unseen, std::size_t e,
                 const std::vector<std::size_t>& index_of) {
  const Prediction& prediction = unseen.predictions[e];
  Json why = Json::array();
  for (const Recommendation::Part& part : unseen.parts[e])
    if (const std::size_t index = index_of[part.component - 1]; index != SIZE_MAX)
      why.push_back({index, number(part.share)});
  Json result = {{"cell", cell_json(source, unseen.cells.data() + e * source.shown.modes.size())},
                 {"probability", number(prediction.probability)},
                 {"sd", number(prediction.sd)},
                 {"q05", number(prediction.q05)},
                 {"q95", number(prediction.q95)},
                 {"why", std::move(why)}};
  if (unseen.held_out[e]) result["held_out"] = *unseen.held_out[e] ? 1 : 0;
  return result;
}

}  // namespace

Json entities_section(ReportSource& source) {
  if (!source.rates()) return nullptr;
  const std::vector<std::size_t> listed = listed_components(source.posterior);
  std::vector<std::size_t> index_of(layout_of(source.posterior).components(), SIZE_MAX);
  for (std::size_t i = 0; i < listed.size(); ++i) index_of[listed[i]] = i;
  const UnseenCells unseen = find_unseen(source.run_dir, source.data(), source.posterior, source.shown, source.pool);
  Json modes = Json::array();
  for (std::size_t k = 0; k < source.shown.modes.size(); ++k) {
    Json mode = profiles(source, k, listed), of_place = Json::object();
    for (const UnseenCells::Entity& entity : unseen.modes[k]) {
      Json cells = Json::array();
      for (const std::size_t e : entity.cells) cells.push_back(unseen_json(source, unseen, e, index_of));
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
