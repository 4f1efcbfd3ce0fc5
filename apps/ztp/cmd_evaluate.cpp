#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/posterior.hpp"

namespace ztp::app {
namespace {

struct Given {
  std::string run, test;
  unsigned threads = 0;
  bool json = false;
};

nlohmann::ordered_json number_or_null(double value) {
  return std::isnan(value) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
}

void print_json(const Metrics& m) {
  nlohmann::ordered_json json;
  json["auc_roc"] = number_or_null(m.auc_roc);
  json["auc_pr"] = number_or_null(m.auc_pr);
  json["log_loss"] = number_or_null(m.log_loss);
  json["brier"] = number_or_null(m.brier);
  json["calibration_error"] = number_or_null(m.calibration_error);
  json["ones"] = m.ones;
  json["zeros"] = m.zeros;
  fmt::print("{}\n", json_text(json));
}

void print_table(const Metrics& m) {
  fmt::print("cells              {} ones, {} zeros\n", human_count(static_cast<double>(m.ones)),
             human_count(static_cast<double>(m.zeros)));
  fmt::print("AUC-ROC            {:.4f}\n", m.auc_roc);
  fmt::print("AUC-PR             {:.4f}\n", m.auc_pr);
  fmt::print("log-loss           {:.5f}\n", m.log_loss);
  fmt::print("Brier score        {:.5f}\n", m.brier);
  fmt::print("calibration error  {:.5f}\n", m.calibration_error);
}

void run_evaluate(const Given& given) {
  Posterior posterior(given.run, given.threads);
  if (given.test.empty() && posterior.info().test_ones + posterior.info().test_zeros == 0)
    throw Error(ErrorKind::usage,
                fmt::format("{} held out no cells: name a TEST file (labels and a last column 0 or 1)", given.run));
  const Metrics metrics = posterior.evaluate(given.test);
  if (given.json)
    print_json(metrics);
  else
    print_table(metrics);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("evaluate", "How good the predictions of test cells are");
  command->add_option("RUN", given->run, "the run directory")->required();
  command->add_option("TEST", given->test, "labels and a last column 0 or 1")
      ->default_str("the cells the fit held out");
  add_threads_flag(*command, given->threads);
  command->add_flag("--json", given->json, "as one JSON object");
  command->footer(
      "Log-loss, Brier score and calibration error speak of the test file's own share of ones: with drawn zeros\n"
      "(protocol ones) they compare runs on the same file, and say nothing of the whole tensor.\n"
      "Example:\n  ztp evaluate run split/test.tsv");
  command->callback([given] { run_evaluate(*given); });
}

}  // namespace ztp::app
