// Queries of a run directory. Calls run without Python's lock, and with a lock of their own.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "shared_posterior.hpp"

namespace ztp::python {
namespace {

constexpr std::size_t prediction_columns = 5;

// Columns: probability, sd, q05, q95, rate. Checks for Ctrl-C between passes over the draws.
nb::ndarray<nb::numpy, double> predict(SharedPosterior& self, const Ids& cells) {
  self.require_columns(cells);
  const std::size_t most = self.constant().cells_at_a_time();
  std::vector<double> numbers;
  numbers.reserve(cells.rows() * prediction_columns);
  for (std::size_t first = 0; first < cells.rows(); first += most) {
    check_signals();
    const std::size_t count = std::min(most, cells.rows() - first);
    for (const Prediction& p : self.call(
             [&](Posterior& posterior) { return posterior.predict(cells.data() + first * cells.columns(), count); }))
      numbers.insert(numbers.end(), {p.probability, p.sd, p.q05, p.q95, p.rate});
  }
  return owned_array<double>(std::move(numbers), {cells.rows(), prediction_columns});
}

Dict as_dict(const Metrics& metrics) {
  Dict dict;
  for (const MetricField& field : metric_fields()) dict[field.key] = metrics.*field.member;
  dict["ones"] = metrics.ones;
  dict["zeros"] = metrics.zeros;
  return dict;
}

Dict as_dict(const RankingMetrics& metrics) {
  Dict dict;
  for (const RankingField& field : ranking_fields())
    std::visit([&](auto member) { dict[field.key] = metrics.*member; }, field.member);
  return dict;
}

Dict as_dict(const Ranking& ranking) {
  Dict dict;
  dict["at"] = ranking.at;
  dict["draws"] = ranking.draws;
  dict["test_ones"] = ranking.test_ones;
  dict["modes"] = ranking.modes;
  nb::list by_mode;
  for (const RankingMetrics& metrics : ranking.by_mode) by_mode.append(as_dict(metrics));
  dict["by_mode"] = by_mode;
  dict["all"] = as_dict(ranking.all);
  return dict;
}

TestCells test_cells(const Ids& cells, const Array1<std::uint8_t>& outcome) {
  if (outcome.size() != cells.rows())
    throw Error(ErrorKind::usage, fmt::format("{} outcomes for {} cells", outcome.size(), cells.rows()));
  TestCells test;
  test.coords.append(cells.data(), cells.rows() * cells.columns());
  test.outcome.append(outcome.data(), outcome.size());
  return test;
}

RankingOptions ranking_options(std::vector<std::size_t> modes, std::vector<std::uint32_t> at,
                               std::vector<std::string> filter, std::size_t draws) {
  RankingOptions options;
  options.modes = std::move(modes);
  options.at = std::move(at);
  options.filter = std::move(filter);
  options.draws = draws;
  options.progress = [](double) {  // Ctrl-C ends it
    nb::gil_scoped_acquire held;
    check_signals();
  };
  return options;
}

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

// Cells as lists of ids, their predictions, and the parts of their rates.
nb::list recommend(SharedPosterior& self, const std::vector<std::optional<std::uint32_t>>& given, std::size_t top) {
  std::vector<Recommendation> found;
  self.call([&](Posterior& posterior) {
    posterior.recommend(given, top, [&](const Recommendation& recommendation) {
      found.push_back(recommendation);
      return true;
    });
    return 0;
  });
  nb::list list;
  for (const Recommendation& r : found) {
    nb::list parts;
    for (const Recommendation::Part& part : r.parts) parts.append(nb::make_tuple(part.component, part.share));
    const Prediction& p = r.prediction;
    list.append(nb::make_tuple(r.cell, nb::make_tuple(p.probability, p.sd, p.q05, p.q95, p.rate), parts));
  }
  return list;
}

Dicts as_list(const std::vector<ComponentMatch>& matches) {
  Dicts list;
  for (const ComponentMatch& match : matches) {
    Dict dict;
    dict["component"] = match.component + 1;
    dict["partner"] = match.partner ? nb::cast(*match.partner + 1) : nb::none();
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
  const Matching matching = self.call_matched(reference, [](Posterior&, const Matching& found) { return found; });
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
  std::vector<double> parts = self.call_matched(0, [&](Posterior& posterior, const Matching& matching) {
    R = matching.components.size();
    return posterior.parts_of_rates(matching, cells.data(), cells.rows());
  });
  return owned_array<double>(std::move(parts), {cells.rows(), R});
}

Dict as_dict(const Quantity& q) {
  Dict dict;
  dict["name"] = q.name;
  dict["mean"] = q.mean;
  dict["sd"] = q.sd;
  dict["mcse"] = q.mcse;
  dict["r_hat"] = q.r_hat;
  dict["ess_bulk"] = q.ess_bulk;
  dict["ess_tail"] = q.ess_tail;
  dict["ess_per_second"] = q.ess_per_second;
  return dict;
}

Dict as_dict(const Diagnosis& diagnosis) {
  Dict dict;
  dict["status"] = diagnosis.status;
  dict["chains"] = diagnosis.chains;
  dict["draws"] = diagnosis.draws;
  dict["seconds"] = diagnosis.seconds;
  dict["verdict"] = name_of(diagnosis.verdict);
  dict["predictions"] = name_of(diagnosis.predictions);
  dict["rank"] = name_of(diagnosis.rank);
  std::vector<std::string> sentences;
  for (const std::string& sentence : diagnosis.sentences) sentences.push_back(in_python_terms(sentence));
  dict["sentences"] = sentences;
  nb::list quantities, cells;
  for (const Quantity& quantity : diagnosis.quantities) quantities.append(as_dict(quantity));
  for (const WatchedCell& cell : diagnosis.cells) {
    Dict row = as_dict(cell.probability);
    row["labels"] = cell.labels;
    row["outcome"] = cell.outcome;
    cells.append(row);
  }
  dict["quantities"] = quantities;
  dict["cells"] = cells;
  return dict;
}

void bind_questions(nb::class_<SharedPosterior>& type) {
  type.def("predict", &predict, nb::arg("cells"), "A row for each cell: probability, sd, q05, q95, rate.")
      .def(
          "evaluate_file",
          [](SharedPosterior& self, const std::string& file) {
            return as_dict(self.call([&](Posterior& p) { return p.evaluate(file); }));
          },
          nb::arg("file"))
      .def(
          "evaluate",
          [](SharedPosterior& self, const Ids& cells, const Array1<std::uint8_t>& outcome) {
            self.require_columns(cells);
            const TestCells test = test_cells(cells, outcome);
            return as_dict(self.call([&](Posterior& p) { return p.evaluate(test); }));
          },
          nb::arg("cells"), nb::arg("outcome"))
      .def(
          "rank_file",
          [](SharedPosterior& self, const std::string& file, std::vector<std::size_t> modes,
             std::vector<std::uint32_t> at, std::vector<std::string> filter, std::size_t draws) {
            const RankingOptions options = ranking_options(std::move(modes), std::move(at), std::move(filter), draws);
            return as_dict(self.call([&](Posterior& p) { return p.rank(file, options); }));
          },
          nb::arg("file"), nb::arg("modes"), nb::arg("at"), nb::arg("filter"), nb::arg("draws"))
      .def(
          "rank",
          [](SharedPosterior& self, const Ids& cells, const Array1<std::uint8_t>& outcome,
             std::vector<std::size_t> modes, std::vector<std::uint32_t> at, std::vector<std::string> filter,
             std::size_t draws) {
            self.require_columns(cells);
            const TestCells test = test_cells(cells, outcome);
            const RankingOptions options = ranking_options(std::move(modes), std::move(at), std::move(filter), draws);
            return as_dict(self.call([&](Posterior& p) { return p.rank(test, options); }));
          },
          nb::arg("cells"), nb::arg("outcome"), nb::arg("modes"), nb::arg("at"), nb::arg("filter"), nb::arg("draws"))
      .def("components", &components, nb::arg("top"), nb::arg("chain"))
      .def("columns", &columns, nb::arg("mode"), nb::arg("top"), nb::arg("chain"))
      .def("core", &core, nb::arg("chain"))
      .def("recommend", &recommend, nb::arg("given"), nb::arg("top"),
           nb::sig("def recommend(self, given: collections.abc.Sequence[int | None], top: int) -> "
                   "list[tuple[list[int], tuple[float, ...], list[tuple[int, float]]]]"))
      .def("match_chains", &match_chains, nb::arg("reference"))
      .def(
          "match_components",
          [](SharedPosterior& self, std::size_t chain, SharedPosterior& other, std::size_t other_chain) {
            return as_list(self.call_with(
                other, [&](Posterior& a, Posterior& b) { return a.match_components(chain, b, other_chain); }));
          },
          nb::arg("chain"), nb::arg("other"), nb::arg("other_chain"))
      .def(
          "mean_factor",
          [](SharedPosterior& self, std::size_t mode, std::optional<std::size_t> chain) {
            std::vector<float> u = chain ? self.call([&](Posterior& p) { return p.mean_factor(mode, *chain); })
                                         : self.call_matched(0, [&](Posterior& p, const Matching& matching) {
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

}  // namespace

void bind_posterior(nb::module_& module) {
  nb::class_<SharedPosterior> type(module, "Posterior", "The draws of a run directory.");
  type.def(nb::init<const std::string&, unsigned>(), nb::arg("run_dir"), nb::arg("threads"),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("info_json", [](const SharedPosterior& self) { return run_info_as_json(self.constant().info()); })
      .def_prop_ro("draws", [](const SharedPosterior& self) { return self.constant().draws(); })
      .def_prop_ro("mode_names", [](const SharedPosterior& self) { return mode_names(self.constant().modes()); })
      .def(
          "labels",
          [](const SharedPosterior& self, std::size_t mode) -> const LabelTable& {
            return self.constant().modes().at(mode).labels;
          },
          nb::arg("mode"), nb::rv_policy::reference_internal);
  bind_questions(type);
  module.def(
      "run_info_json", [](const std::string& run_dir) { return run_info_as_json(run_info(run_dir)); },
      nb::arg("run_dir"));
  module.def(
      "write_report",
      [](const std::string& run_dir, const std::string& file, const std::string& test, std::vector<std::string> ordered,
         std::vector<std::string> unordered, std::size_t entities, unsigned threads) {
        ReportOptions options;
        options.test = test;
        options.ordered = std::move(ordered);
        options.unordered = std::move(unordered);
        options.entities = entities;
        options.threads = threads;
        return write_report(run_dir, file, options).notes;
      },
      nb::arg("run_dir"), nb::arg("file"), nb::arg("test"), nb::arg("ordered"), nb::arg("unordered"),
      nb::arg("entities"), nb::arg("threads"), nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "write_comparison",
      [](const std::string& run_dir, const std::string& other_dir, const std::string& file, const std::string& test,
         unsigned threads) {
        ReportOptions options;
        options.test = test;
        options.threads = threads;
        return write_comparison(run_dir, other_dir, file, options).notes;
      },
      nb::arg("run_dir"), nb::arg("other_dir"), nb::arg("file"), nb::arg("test"), nb::arg("threads"),
      nb::call_guard<nb::gil_scoped_release>());
  module.def("is_report", &is_report, nb::arg("file"));
  module.def(
      "diagnose", [](const std::string& run_dir) { return as_dict(without_lock([&] { return diagnose(run_dir); })); },
      nb::arg("run_dir"));
}

}  // namespace ztp::python
