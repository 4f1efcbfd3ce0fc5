#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/diagnose.hpp"
#include "ztp/run_info.hpp"

namespace ztp::app {
namespace {

using Json = nlohmann::ordered_json;

// JSON has neither NaN nor infinity: null, and the text "inf".
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json as_json(const Quantity& q) {
  Json json;
  json["name"] = q.name;
  json["mean"] = number(q.mean);
  json["sd"] = number(q.sd);
  json["mcse"] = number(q.mcse);
  json["r_hat"] = number(q.r_hat);
  json["ess_bulk"] = number(q.ess_bulk);
  json["ess_tail"] = number(q.ess_tail);
  json["ess_per_second"] = number(q.ess_per_second);
  json["constant"] = q.constant;
  json["chain_means"] = Json::array();
  for (const double mean : q.chain_means) json["chain_means"].push_back(number(mean));
  return json;
}

void print_json(const Diagnosis& diagnosis, const RunInfo& info) {
  Json json;
  json["verdict"] = name_of(diagnosis.verdict);
  json["predictions"] = name_of(diagnosis.predictions);
  json["rank"] = name_of(diagnosis.rank);
  json["sentences"] = diagnosis.sentences;
  json["status"] = diagnosis.status;
  json["chains"] = diagnosis.chains;
  json["draws_per_chain"] = diagnosis.draws;
  json["seconds"] = number(diagnosis.seconds);
  json["quantities"] = Json::array();
  for (const Quantity& q : diagnosis.quantities) json["quantities"].push_back(as_json(q));
  json["cells"] = Json::array();
  for (const WatchedCell& cell : diagnosis.cells) {
    Json item = as_json(cell.probability);
    for (std::size_t k = 0; k < cell.labels.size(); ++k) item["cell"][info.modes[k].name] = cell.labels[k];
    if (cell.outcome) item["outcome"] = *cell.outcome ? 1 : 0;
    json["cells"].push_back(std::move(item));
  }
  fmt::print("{}\n", json_text(json, 2));
}

// Rounds to two digits of the error.
std::string rounded(double value, double error) {
  if (std::isnan(value)) return "-";
  if (!(error > 0) || !std::isfinite(error)) return fmt::format("{:g}", value);
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 8);
  return fmt::format("{:.{}f}", value, digits);
}

std::string fixed_digits(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

void print_row(const std::string& name, const Quantity& q, std::size_t width) {
  fmt::print("{:<{}}  {:>12}  {:>10}  {:>10}  {:>7}  {:>8}  {:>8}  {:>8}\n", name, width, rounded(q.mean, q.mcse),
             rounded(q.sd, q.sd), rounded(q.mcse, q.mcse), q.constant ? "const" : fixed_digits(q.r_hat, 3),
             fixed_digits(q.ess_bulk, 0), fixed_digits(q.ess_tail, 0),
             std::isnan(q.ess_per_second) ? "-" : fmt::format("{:.3g}", q.ess_per_second));
}

std::string description(const WatchedCell& cell, const RunInfo& info) {
  std::string text;
  for (std::size_t k = 0; k < cell.labels.size(); ++k)
    text += fmt::format("{}{}={}", k == 0 ? "" : " ", info.modes[k].name, cell.labels[k]);
  if (text.empty()) text = cell.probability.name;
  if (cell.outcome) text += *cell.outcome ? " (a held-out one)" : " (a held-out zero)";
  return text;
}

void print_table(const Diagnosis& diagnosis, const RunInfo& info) {
  struct Row {
    std::string name;
    std::size_t cell;
  };
  std::vector<Row> cells;
  if (diagnosis.worst_cell) cells.push_back({"cell, largest R-hat", *diagnosis.worst_cell});
  if (diagnosis.scarce_cell) cells.push_back({"cell, smallest ESS", *diagnosis.scarce_cell});
  if (diagnosis.median_cell) cells.push_back({"cell, median R-hat", *diagnosis.median_cell});
  std::size_t width = 8;
  for (const Quantity& q : diagnosis.quantities) width = std::max(width, q.name.size());
  for (const Row& row : cells) width = std::max(width, row.name.size());

  const bool several = diagnosis.chains.size() > 1;
  fmt::print("{}: {} sweeps{} after burn-in, which took {}{}. (The run keeps {} draws of them.)\n\n",
             several ? fmt::format("{} chains", diagnosis.chains.size()) : "1 chain",
             human_count(static_cast<double>(diagnosis.draws)), several ? " of each" : "",
             std::isfinite(diagnosis.seconds) ? human_seconds(diagnosis.seconds) : "unknown time",
             several ? ", added up over chains" : "", human_count(static_cast<double>(info.draws)));
  fmt::print("{:<{}}  {:>12}  {:>10}  {:>10}  {:>7}  {:>8}  {:>8}  {:>8}\n", "quantity", width, "mean", "sd", "mcse",
             "R-hat", "bulk ESS", "tail ESS", "ESS/s");
  for (const Quantity& q : diagnosis.quantities) print_row(q.name, q, width);
  for (const Row& row : cells) print_row(row.name, diagnosis.cells[row.cell].probability, width);
  if (!cells.empty()) fmt::print("\n{} cells are watched.\n", diagnosis.cells.size());
  for (const Row& row : cells) fmt::print("  {:<19}  {}\n", row.name, description(diagnosis.cells[row.cell], info));
  fmt::print("\nverdict: {}\n", name_of(diagnosis.verdict));
  for (const std::string& sentence : diagnosis.sentences) fmt::print("{}\n", sentence);
}

}  // namespace

void add_diagnose(CLI::App& app) {
  struct DiagnoseFlags {
    std::string run;
    bool json = false;
  };
  auto flags = std::make_shared<DiagnoseFlags>();
  CLI::App* command =
      app.add_subcommand("diagnose", "Tell whether the chains agree, how precise the numbers are, and what helps");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_flag("--json", flags->json, "print one JSON object, with every watched cell");
  command->footer(
      "R-hat compares chains: 1 is agreement, up to 1.01 is good, up to 1.05 is usable.\n"
      "ESS is the number of independent draws that the chains are worth: 400 or more is good, 100 or more is\n"
      "usable.\n"
      "mcse is the Monte Carlo standard error of the mean. Source: Vehtari et al. 2021, doi:10.1214/20-BA1221.\n"
      "The command also works while a fit runs, and after an interruption.\n"
      "Example:\n"
      "  ztp fit ones.tsv --rank 50 --chains 4 --out run\n"
      "  ztp diagnose run");
  command->callback([flags] {
    const RunInfo info = run_info(flags->run);
    const Diagnosis diagnosis = diagnose(flags->run);
    if (flags->json)
      print_json(diagnosis, info);
    else
      print_table(diagnosis, info);
    if (!flags->json && info.draws > 0) {
      fmt::print("\n");
      print_verdicts(flags->run);
    }
  });
}

}  // namespace ztp::app
