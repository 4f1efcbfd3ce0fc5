// What a run directory knows of its components, or of the columns that they share.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "shared_posterior.hpp"

namespace ztp::python {
namespace {

nb::list as_list(const std::vector<Component::Entity>& entities) {
  nb::list list;
  for (const Component::Entity& entity : entities) list.append(nb::make_tuple(entity.id, entity.value));
  return list;
}

template <class Item>
Dict with_weight(const Item& item) {
  Dict dict;
  dict["weight"] = item.weight;
  dict["weight_q05"] = item.weight_q05;
  dict["weight_q95"] = item.weight_q95;
  dict["stability"] = item.stability;
  return dict;
}

Dicts columns(SharedPosterior& self, std::size_t mode, std::size_t top, std::size_t chain) {
  Dicts result;
  for (const Column& column : self.call([&](Posterior& p) { return p.columns(mode, top, chain); })) {
    Dict dict = with_weight(column);
    dict["column"] = column.number;
    dict["top"] = as_list(column.top);
    result.append(dict);
  }
  return result;
}

Dicts core(SharedPosterior& self, std::size_t chain) {
  Dicts result;
  for (const CoreEntry& entry : self.call([&](Posterior& p) { return p.core(chain); })) {
    Dict dict = with_weight(entry);
    dict["columns"] = entry.columns;
    result.append(dict);
  }
  return result;
}

Dicts components(SharedPosterior& self, std::size_t top, std::size_t chain) {
  Dicts list;
  for (const Component& component : self.call([&](Posterior& p) { return p.components(top, chain); })) {
    Dict dict;
    dict["component"] = component.number;
    dict["weight"] = component.weight;
    dict["weight_q05"] = component.weight_q05;
    dict["weight_q95"] = component.weight_q95;
    dict["share"] = component.share;
    dict["stability"] = component.stability;
    nb::list modes;
    for (const auto& entities : component.top) modes.append(as_list(entities));
    dict["top"] = modes;
    list.append(dict);
  }
  return list;
}

// Pairs of what has a part in a rate, a component or the columns of an entry of the core, and its share.
nb::list as_list(const std::vector<Recommendation::Part>& parts) {
  nb::list list;
  for (const Recommendation::Part& part : parts)
    list.append(part.columns.empty() ? nb::make_tuple(part.component, part.share)
                                     : nb::make_tuple(part.columns, part.share));
  return list;
}

// Of each cell.
nb::list explain(SharedPosterior& self, const Ids& cells) {
  self.require_columns(cells);
  nb::list list;
  for (const auto& parts : self.call([&](Posterior& p) { return p.explain(cells.data(), cells.rows()); }))
    list.append(as_list(parts));
  return list;
}

using Given = std::vector<std::optional<std::uint32_t>>;

RecommendOptions recommend_options(std::vector<std::vector<std::uint32_t>> exclude_entities, const Ids& exclude_cells,
                                   std::optional<std::size_t> only_new, std::optional<std::size_t> distinct) {
  const std::uint32_t* cells = exclude_cells.data();
  return {
      std::move(exclude_entities), {cells, cells + exclude_cells.rows() * exclude_cells.columns()}, only_new, distinct};
}

nb::tuple as_tuple(const Prediction& p) {
  return nb::make_tuple(p.probability, p.sd, p.q05, p.q95, p.rate);
}

// Cells as lists of ids, their predictions, the parts of their rates, and whether they were declared missing.
nb::list recommend(SharedPosterior& self, const Given& given, std::size_t top,
                   std::vector<std::vector<std::uint32_t>> exclude_entities, const Ids& exclude_cells,
                   std::optional<std::size_t> only_new, std::optional<std::size_t> distinct) {
  const RecommendOptions options = recommend_options(std::move(exclude_entities), exclude_cells, only_new, distinct);
  std::vector<Recommendation> found;
  self.call([&](Posterior& posterior) {
    posterior.recommend(
        given, top,
        [&](const Recommendation& recommendation) {
          found.push_back(recommendation);
          return true;
        },
        options);
    return 0;
  });
  nb::list list;
  for (const Recommendation& r : found)
    list.append(nb::make_tuple(r.cell, as_tuple(r.prediction), as_list(r.parts), r.missing));
  return list;
}

// The same of entities, with the numbers of their ones and cells.
nb::list recommend_entities(SharedPosterior& self, std::size_t mode, const Given& given, std::size_t top,
                            std::vector<std::vector<std::uint32_t>> exclude_entities, const Ids& exclude_cells,
                            std::optional<std::size_t> only_new) {
  const RecommendOptions options =
      recommend_options(std::move(exclude_entities), exclude_cells, only_new, std::nullopt);
  nb::list list;
  for (const EntityRecommendation& r :
       self.call([&](Posterior& posterior) { return posterior.recommend_entities(mode, given, top, options); }))
    list.append(nb::make_tuple(r.entity, as_tuple(r.prediction), as_list(r.parts), r.missing, r.ones, r.cells));
  return list;
}

// `what`: components or columns.
Dicts as_list(const std::vector<ComponentMatch>& matches, const char* what = "component") {
  Dicts list;
  for (const ComponentMatch& match : matches) {
    Dict dict;
    dict[what] = match.component + 1;
    dict["partner"] = match.partner ? nb::cast(*match.partner + 1) : nb::none();
    dict["overlap"] = match.overlap;
    dict["agreement"] = match.agreement;
    dict["weight_share"] = match.weight_share;
    dict["partner_weight_share"] = match.partner_weight_share;
    list.append(dict);
  }
  return list;
}

Dicts as_list(const std::vector<CoreMatch>& matches) {
  Dicts list;
  for (const CoreMatch& match : matches) {
    Dict dict;
    dict["columns"] = match.columns;
    dict["partner"] = match.partner.empty() ? nb::none() : nb::cast(match.partner);
    dict["overlap"] = match.overlap;
    dict["agreement"] = match.agreement;
    dict["weight_share"] = match.weight_share;
    dict["partner_weight_share"] = match.partner_weight_share;
    list.append(dict);
  }
  return list;
}

// The components of a reference chain with those of the others: pairs of chain and matches; and summaries over chains.
Dict match_chains(SharedPosterior& self, std::size_t reference) {
  const Matching matching = self.call_matched({reference, {}}, [](Posterior&, const Matching& found) { return found; });
  nb::list chains, components;
  for (std::size_t i = 0; i < matching.others.size(); ++i)
    chains.append(nb::make_tuple(matching.others[i], as_list(matching.matches[i])));
  for (const Matching::Summary& summary : matching.components)
    components.append(nb::make_tuple(summary.stability, summary.weight_mean, summary.weight_sd));
  Dict dict;
  dict["chains"] = chains;
  dict["components"] = components;
  return dict;
}

// At the means of all chains: a row for each cell, a column for each component of the first.
nb::ndarray<nb::numpy, double> parts_of_rates(SharedPosterior& self, const Ids& cells) {
  self.require_columns(cells);
  std::size_t R = 0;
  std::vector<double> parts =
      self.call_matched({0, self.mode_matched(0)}, [&](Posterior& posterior, const Matching& matching) {
        R = matching.components.size();
        return posterior.parts_of_rates(matching, cells.data(), cells.rows());
      });
  return owned_array<double>(std::move(parts), {cells.rows(), R});
}

}  // namespace

void bind_components(nb::class_<SharedPosterior>& type) {
  type.def("components", &components, nb::arg("top"), nb::arg("chain"))
      .def("columns", &columns, nb::arg("mode"), nb::arg("top"), nb::arg("chain"))
      .def("core", &core, nb::arg("chain"))
      .def("recommend", &recommend, nb::arg("given"), nb::arg("top"), nb::arg("exclude_entities"),
           nb::arg("exclude_cells"), nb::arg("only_new").none(), nb::arg("distinct").none(),
           nb::sig("def recommend(self, given: collections.abc.Sequence[int | None], top: int, exclude_entities: "
                   "collections.abc.Sequence[collections.abc.Sequence[int]], exclude_cells: Ids, only_new: int | None, "
                   "distinct: int | None) -> "
                   "list[tuple[list[int], tuple[float, ...], list[tuple[int | list[int], float]], bool]]"))
      .def("recommend_entities", &recommend_entities, nb::arg("mode"), nb::arg("given"), nb::arg("top"),
           nb::arg("exclude_entities"), nb::arg("exclude_cells"), nb::arg("only_new").none(),
           nb::sig("def recommend_entities(self, mode: int, given: collections.abc.Sequence[int | None], top: int, "
                   "exclude_entities: collections.abc.Sequence[collections.abc.Sequence[int]], exclude_cells: Ids, "
                   "only_new: int | None) -> "
                   "list[tuple[int, tuple[float, ...], list[tuple[int | list[int], float]], bool, int, float]]"))
      .def("explain", &explain, nb::arg("cells"),
           nb::sig("def explain(self, cells: Ids) -> list[list[tuple[int | list[int], float]]]"))
      .def("match_chains", &match_chains, nb::arg("reference"))
      .def(
          "match_components",
          [](SharedPosterior& self, std::size_t chain, SharedPosterior& other, std::size_t other_chain) {
            return as_list(self.call_with(
                other, [&](Posterior& a, Posterior& b) { return a.match_components(chain, b, other_chain); }));
          },
          nb::arg("chain"), nb::arg("other"), nb::arg("other_chain"))
      .def(
          "match_columns",
          [](SharedPosterior& self, std::size_t mode, std::size_t chain, SharedPosterior& other,
             std::size_t other_chain) {
            return as_list(
                self.call_with(
                    other, [&](Posterior& a, Posterior& b) { return a.match_columns(mode, chain, b, other_chain); }),
                "column");
          },
          nb::arg("mode"), nb::arg("chain"), nb::arg("other"), nb::arg("other_chain"))
      .def(
          "match_core",
          [](SharedPosterior& self, std::size_t chain, SharedPosterior& other, std::size_t other_chain) {
            return as_list(
                self.call_with(other, [&](Posterior& a, Posterior& b) { return a.match_core(chain, b, other_chain); }));
          },
          nb::arg("chain"), nb::arg("other"), nb::arg("other_chain"))
      .def(
          "mean_factor",
          [](SharedPosterior& self, std::size_t mode, std::optional<std::size_t> chain) {
            std::vector<float> u =
                chain ? self.call([&](Posterior& p) { return p.mean_factor(mode, *chain); })
                      : self.call_matched({0, self.mode_matched(mode)}, [&](Posterior& p, const Matching& matching) {
                          return p.matched_mean_factor(matching, mode);
                        });
            const std::size_t n = self.constant().modes().at(mode).labels.size(), columns = u.size() / n;
            return owned_array<float>(std::move(u), {n, columns});
          },
          nb::arg("mode"), nb::arg("chain").none())
      .def(
          "mean_weights",
          [](SharedPosterior& self, std::size_t chain) {
            std::vector<double> weights = self.call([&](Posterior& p) { return p.mean_weights(chain); });
            const std::size_t R = weights.size();
            return owned_array<double>(std::move(weights), {R});
          },
          nb::arg("chain"))
      .def("parts_of_rates", &parts_of_rates, nb::arg("cells"));
}

}  // namespace ztp::python
