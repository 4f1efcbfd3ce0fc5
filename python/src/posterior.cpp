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
nb::ndarray<nb::numpy, double> predict(SharedPosterior& self, const Ids& cells, bool unseen) {
  self.require_columns(cells);
  const std::size_t most = self.constant().cells_at_a_time();
  std::vector<double> numbers;
  numbers.reserve(cells.rows() * prediction_columns);
  for (std::size_t first = 0; first < cells.rows(); first += most) {
    check_signals();
    const std::size_t count = std::min(most, cells.rows() - first);
    for (const Prediction& p : self.call([&](Posterior& posterior) {
           return posterior.predict(cells.data() + first * cells.columns(), count, unseen);
         }))
      numbers.insert(numbers.end(), {p.probability, p.sd, p.q05, p.q95, p.rate});
  }
  return owned_array<double>(std::move(numbers), {cells.rows(), prediction_columns});
}

Dict as_dict(const Metrics& metrics) {
  Dict dict;
  for (const MetricField& field : metric_fields()) dict[field.key] = metrics.*field.member;
  return dict;
}

Dict as_dict(const Evaluation& evaluation) {
  Dict dict = as_dict(static_cast<const Metrics&>(evaluation));
  if (evaluation.counts) {
    dict["deviance"] = evaluation.counts->deviance;
    dict["log_score"] = evaluation.counts->log_score;
  }
  dict["ones"] = evaluation.ones;
  dict["zeros"] = evaluation.zeros;
  dict["zero_weight"] = evaluation.zero_weight;
  dict["popularity"] = as_dict(evaluation.popularity);
  return dict;
}

// Columns: cells, expected, found.
nb::ndarray<nb::numpy, double> head(SharedPosterior& self, const std::vector<std::size_t>& sizes,
                                    const std::string& file) {
  std::vector<double> numbers;
  for (const HeadOfList& head : self.call([&](Posterior& p) { return p.head(sizes, file); }))
    numbers.insert(numbers.end(), {static_cast<double>(head.cells), head.expected, static_cast<double>(head.found)});
  return owned_array<double>(std::move(numbers), {sizes.size(), 3});
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
  dict["popularity"] = as_dict(ranking.popularity);
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
  type.def("predict", &predict, nb::arg("cells"), nb::arg("unseen"),
           "A row for each cell: probability, sd, q05, q95, rate.")
      .def("verdicts",
           [](SharedPosterior& self) {
             std::vector<std::string> lines;
             for (const RunVerdict& verdict : self.call([](Posterior& p) { return p.verdicts(); }))
               lines.push_back(verdict.line());
             return lines;
           })
      .def(
          "evaluate_file",
          [](SharedPosterior& self, const std::string& file) {
            return as_dict(self.call([&](Posterior& p) { return p.evaluate(file); }));
          },
          nb::arg("file"))
      .def(
          "evaluate",
          [](SharedPosterior& self, const Ids& cells, const Array1<std::uint8_t>& outcome,
             const std::vector<std::int64_t>& counts) {
            self.require_columns(cells);
            TestCells test = test_cells(cells, outcome);
            test.counts.append(counts.data(), counts.size());
            return as_dict(self.call([&](Posterior& p) { return p.evaluate(test); }));
          },
          nb::arg("cells"), nb::arg("outcome"), nb::arg("counts"))
      .def("head", &head, nb::arg("sizes"), nb::arg("file"))
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
          nb::arg("cells"), nb::arg("outcome"), nb::arg("modes"), nb::arg("at"), nb::arg("filter"), nb::arg("draws"));
}

}  // namespace

void bind_posterior(nb::module_& module) {
  nb::class_<SharedPosterior> type(module, "Posterior", "The draws of a run directory.");
  type.def(nb::init<const std::string&, unsigned, bool, double, const std::string&>(), nb::arg("run_dir"),
           nb::arg("threads"), nb::arg("raw"), nb::arg("listed"), nb::arg("kernel"),
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
  bind_components(type);
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
      "cautions",
      [](const std::string& run_dir) {
        const Cautions found = without_lock([&] { return cautions(run_dir); });
        return std::pair{found.convergence, found.intervals};
      },
      nb::arg("run_dir"), nb::sig("def cautions(run_dir: str) -> tuple[str, str]"));
  module.def(
      "diagnose", [](const std::string& run_dir) { return as_dict(without_lock([&] { return diagnose(run_dir); })); },
      nb::arg("run_dir"));
}

}  // namespace ztp::python
