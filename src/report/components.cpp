#include <algorithm>

#include "posterior/overlap.hpp"
#include "report/classical_scaling.hpp"
#include "report/entity_series.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

constexpr int digits_of_place = 4;

Json list_of(ReportSource& source, const std::vector<std::size_t>& listed) {
  const std::vector<Component> all = source.posterior.components(0, source.groups().chain);
  Json list = Json::array();
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const Component& c =
        *std::find_if(all.begin(), all.end(), [&](const Component& one) { return one.number == listed[i] + 1; });
    list.push_back({{"number", c.number},
                    {"weight", number(c.weight, precise)},
                    {"q05", number(c.weight_q05, precise)},
                    {"q95", number(c.weight_q95, precise)},
                    {"share", number(c.share)},
                    {"stability", number(c.stability)},
                    {"network_only", static_cast<bool>(source.groups().network_only[i])}});
  }
  return list;
}

// How different the components are in a mode: 1 - their Bhattacharyya overlap, the square of a distance.
Matrix<double> differences(const MeanFactor& u, const std::vector<std::size_t>& listed, Pool& pool) {
  const std::size_t L = listed.size();
  Matrix<float> roots(u.entities(), L);
  for (std::uint32_t j = 0; j < roots.rows(); ++j)
    for (std::size_t i = 0; i < L; ++i) roots.row(j)[i] = u(j, listed[i]);
  take_square_roots(roots, pool);
  Matrix<double> result(L, L);
  for (std::size_t i = 0; i < L; ++i) std::fill_n(result.row(i), L, 1.0);
  multiply_by_overlaps(roots, roots, pool, result);
  for (std::size_t i = 0; i < L; ++i)
    for (std::size_t j = 0; j < L; ++j) result.row(i)[j] = i == j ? 0 : 1 - result.row(i)[j];
  return result;
}

Json map_of(const Matrix<double>& squared) {
  Json places = Json::array();
  for (const auto& place : classical_scaling(squared)) places.push_back(numbers(place, digits_of_place));
  return places;
}

}  // namespace

Json components_section(ReportSource& source) {
  if (!source.rates() || source.groups().shared) return nullptr;
  const std::vector<std::size_t>& listed = source.groups().modes[0].columns;
  const std::size_t K = source.shown.modes.size(), L = listed.size();
  Json section = {{"chain", source.groups().chain + 1},
                  {"empty", source.groups().layout.components() - L},
                  {"list", list_of(source, listed)},
                  {"similarity", {{"all", nullptr}, {"modes", Json::array()}}}};
  EntitySeries series;
  std::vector<std::size_t> bars;                  // of each mode, the series of the first component
  std::vector<std::optional<std::size_t>> lines;  // likewise; none of a mode without order, or too large
  std::size_t room = most_in_lines;
  Matrix<double> all(L, L);
  for (std::size_t k = 0; k < K; ++k) {
    const MeanFactor u(source.posterior, k, source.groups().chain);
    const Matrix<double> squared = differences(u, listed, source.pool);
    for (std::size_t i = 0; i < L; ++i)
      for (std::size_t j = 0; j < L; ++j) all.row(i)[j] += squared.row(i)[j] / static_cast<double>(K);
    section["similarity"]["modes"].push_back(map_of(squared));
    bars.push_back(series.add(source, k, choose_bars(source, k, u)));
    EntityParts of_lines = choose_lines(source, k, u, room);
    lines.push_back(of_lines.empty() ? std::nullopt : std::optional(series.add(source, k, std::move(of_lines))));
  }
  section["similarity"]["all"] = map_of(all);
  series.find_intervals(source);
  section["bars"] = section["lines"] = Json::array();
  for (std::size_t i = 0; i < L; ++i) {
    Json of_bars = Json::array(), of_lines = Json::array();
    for (std::size_t k = 0; k < K; ++k) {
      of_bars.push_back(series.bars(source, bars[k] + i));
      of_lines.push_back(lines[k] ? series.line(*lines[k] + i) : Json());
    }
    section["bars"].push_back(std::move(of_bars));
    section["lines"].push_back(std::move(of_lines));
  }
  return section;
}

}  // namespace ztp
