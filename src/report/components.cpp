#include <fmt/format.h>

#include <algorithm>

#include "posterior/overlap.hpp"
#include "report/characteristic_entities.hpp"
#include "report/classical_scaling.hpp"
#include "report/listed_components.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

constexpr int digits_of_bar = 6, digits_of_interval = 4, digits_of_place = 4;
constexpr std::size_t most_in_lines = 300000;  // values of all lines together; each has an interval
constexpr double invisible = 1e-9;             // smaller quantiles are long numbers that nobody can see

// The listed components of the chain that is shown: what all parts of the section need.
struct Listed {
  explicit Listed(ReportSource& source)
      : chain(chain_shown(source.posterior)),
        weights(source.posterior.mean_weights(chain)),
        components(listed_components(source.posterior)) {}
  std::size_t chain;
  std::vector<double> weights;          // of all components
  std::vector<std::size_t> components;  // from 0: those that are listed, largest weight first
};

Json list_of(ReportSource& source, const Listed& listed) {
  const std::vector<bool> network_only = network_only_components(source.posterior);
  const std::vector<Component> all = source.posterior.components(0, listed.chain);
  Json list = Json::array();
  for (const std::size_t r : listed.components) {
    const Component& c =
        *std::find_if(all.begin(), all.end(), [&](const Component& one) { return one.number == r + 1; });
    list.push_back({{"number", c.number},
                    {"weight", number(c.weight, precise)},
                    {"q05", number(c.weight_q05, precise)},
                    {"q95", number(c.weight_q95, precise)},
                    {"share", number(c.share)},
                    {"stability", number(c.stability)},
                    {"network_only", static_cast<bool>(network_only[r])}});
  }
  return list;
}

// How different the components are in a mode: 1 - their Bhattacharyya overlap, the square of a distance.
Matrix<double> differences(const MeanFactor& u, const Listed& listed, Pool& pool) {
  const std::size_t L = listed.components.size();
  Matrix<float> roots(u.entities(), L);
  for (std::uint32_t j = 0; j < roots.rows(); ++j)
    for (std::size_t i = 0; i < L; ++i) roots.row(j)[i] = u(j, listed.components[i]);
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

// For each listed component the shown entities of a mode that its list may have.
std::vector<std::vector<EntityPart>> choose_bars(ReportSource& source, std::size_t k, const MeanFactor& u,
                                                 const Listed& listed) {
  std::vector<std::vector<EntityPart>> parts =
      characteristic_entities(source.posterior, listed.chain, k, u, listed.components, source.shown.modes[k].ids);
  for (std::vector<EntityPart>& of_component : parts)
    of_component = first_by_relevance(of_component, entities_of_component);
  return parts;
}

// All shown entities, in their order, of each listed component.
std::vector<std::vector<EntityPart>> choose_lines(ReportSource& source, std::size_t k, const MeanFactor& u,
                                                  const Listed& listed) {
  std::vector<std::vector<EntityPart>> parts(listed.components.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const std::uint32_t id : source.shown.modes[k].ids)
      parts[i].push_back({id, static_cast<double>(u(id, listed.components[i])), 0});
  return parts;
}

// Entities of a mode in a component, and where their intervals are.
struct Series {
  std::vector<EntityPart> parts;
  std::size_t first = 0;
};

// The intervals of all bars and lines: they are asked for together, so that there is one pass over the draws.
class Intervals {
 public:
  std::vector<Series> add(std::size_t k, const Listed& listed, std::vector<std::vector<EntityPart>> parts) {
    std::vector<Series> series;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      series.push_back({std::move(parts[i]), places_.size()});
      for (const EntityPart& part : series.back().parts) places_.push_back({k, part.id, listed.components[i]});
    }
    return series;
  }
  void find(Posterior& posterior, std::size_t chain) { found_ = posterior.factor_intervals(places_, chain); }

  Json json(const Series& series, int digits) const {
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

 private:
  std::vector<FactorPlace> places_;
  std::vector<Interval> found_;
};

}  // namespace

Json components_section(ReportSource& source) {
  if (!source.rates()) return nullptr;
  const Listed listed(source);
  const std::size_t K = source.shown.modes.size(), L = listed.components.size();
  Json section = {{"chain", listed.chain + 1},
                  {"empty", listed.weights.size() - L},
                  {"list", list_of(source, listed)},
                  {"similarity", {{"all", nullptr}, {"modes", Json::array()}}}};
  Intervals intervals;
  std::vector<std::vector<Series>> bars, lines(K);  // by mode and index; no lines of a mode without order, or too large
  std::size_t room = most_in_lines;
  Matrix<double> all(L, L);
  for (std::size_t k = 0; k < K; ++k) {
    const MeanFactor u(source.posterior, k, listed.chain);
    const Matrix<double> squared = differences(u, listed, source.pool);
    for (std::size_t i = 0; i < L; ++i)
      for (std::size_t j = 0; j < L; ++j) all.row(i)[j] += squared.row(i)[j] / static_cast<double>(K);
    section["similarity"]["modes"].push_back(map_of(squared));
    bars.push_back(intervals.add(k, listed, choose_bars(source, k, u, listed)));
    if (!source.shown.modes[k].ordered) continue;
    const std::size_t values = L * source.shown.modes[k].ids.size();
    if (values <= room) {
      room -= values;
      lines[k] = intervals.add(k, listed, choose_lines(source, k, u, listed));
    } else {
      source.notes.push_back(fmt::format("Lines of {} are left out: {} components of {} entities are too many.",
                                         source.posterior.modes()[k].name, L, source.shown.modes[k].ids.size()));
    }
  }
  section["similarity"]["all"] = map_of(all);
  intervals.find(source.posterior, listed.chain);
  section["bars"] = section["lines"] = Json::array();
  for (std::size_t i = 0; i < L; ++i) {
    Json of_bars = Json::array(), of_lines = Json::array();
    for (std::size_t k = 0; k < K; ++k) {
      Json entity = Json::array();
      for (const EntityPart& part : bars[k][i].parts) entity.push_back(source.shown.modes[k].place_of(part.id).value());
      of_bars.push_back({{"entity", std::move(entity)}});
      of_bars.back().update(intervals.json(bars[k][i], digits_of_bar));
      of_lines.push_back(lines[k].empty() ? Json() : intervals.json(lines[k][i], digits_of_interval));
    }
    section["bars"].push_back(std::move(of_bars));
    section["lines"].push_back(std::move(of_lines));
  }
  return section;
}

}  // namespace ztp
