#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/check.hpp"

namespace ztp::app {
namespace {

struct CheckFlags {
  ReadOptions read;
  FitOptions options;
  bool json = false;
};

// The flags that a fit would tie these modes with.
std::string flags_of(const CheckReport::SameEntities& same) {
  return fmt::format("--tie {} --self {}", quoted_for_shell(same.first + "=" + same.second), name_of(same.self));
}

nlohmann::ordered_json as_json(const CheckReport& report) {
  nlohmann::ordered_json json;
  json["ones"] = report.ones;
  json["volume"] = report.volume;
  json["density"] = static_cast<double>(report.ones) / report.volume;
  json["duplicates"] = report.duplicates;
  json["zeros"] = report.zeros;
  json["duplicate_lines"] = nlohmann::ordered_json::array();
  for (const auto& item : report.duplicate_examples)
    json["duplicate_lines"].push_back({{"line", item.line}, {"first_line", item.first_line}, {"cell", item.cell}});
  for (const auto& mode : report.modes)
    json["modes"].push_back({{"name", mode.name},
                             {"size", mode.size},
                             {"empty", mode.empty},
                             {"busiest", mode.busiest},
                             {"busiest_ones", mode.busiest_ones},
                             {"missing", mode.missing}});
  json["networks"] = nlohmann::ordered_json::array();
  for (const auto& [mode, edges, missing] : report.networks)
    json["networks"].push_back({{"mode", mode}, {"edges", edges}, {"missing_pairs", missing}});
  json["missing_cells"] = report.missing_cells;
  json["missing_volume"] = report.missing_volume;
  json["warnings"] = report.warnings;
  json["same_entities"] = nullptr;
  if (const auto& same = report.same_entities)
    json["same_entities"] = {{"modes", {same->first, same->second}},
                             {"shared", same->shared},
                             {"of", {same->first_entities, same->second_entities}},
                             {"self_ones", same->self_ones},
                             {"flags", flags_of(*same)}};
  json["fit"] = {{"rank", report.options.rank},           {"columns", report.options.columns},
                 {"memory_bytes", report.cost.memory},    {"draws", report.cost.draws},
                 {"draws_bytes", report.cost.draws_file}, {"seconds_per_sweep", report.seconds_per_sweep}};
  return json;
}

void print_same_entities(const CheckReport::SameEntities& same) {
  const auto count = [](std::uint64_t number) { return human_count(static_cast<double>(number)); };
  fmt::print(
      "advice      {} and {} have {} labels in common, of {} and {}; {} of the ones {} the same label in both.\n",
      same.first, same.second, count(same.shared), count(same.first_entities), count(same.second_entities),
      same.self_ones == 0 ? "none" : count(same.self_ones), same.self_ones <= 1 ? "has" : "have");
  fmt::print("            If a label is the same entity in both, fit with {}\n", flags_of(same));
  fmt::print("            Both modes then have the same factors, and components share columns.\n");
  if (same.self == SelfCells::missing)
    fmt::print("            (Use --self zero if an entity could relate to itself, but never does.)\n");
}

void print_text(const CheckReport& report) {
  const FitOptions& options = report.options;
  fmt::print("ones        {} of {} cells ({:.3g} %)\n", human_count(static_cast<double>(report.ones)),
             human_count(report.volume), 100 * static_cast<double>(report.ones) / report.volume);
  for (const auto& mode : report.modes) {
    fmt::print("mode        {}: {} entities, most ones: {} ({})\n", mode.name, human_count(mode.size), mode.busiest,
               human_count(static_cast<double>(mode.busiest_ones)));
    if (mode.empty > 0)
      fmt::print("            {} without a one: {}{}\n", human_count(mode.empty), fmt::join(mode.empty_examples, ", "),
                 mode.empty > mode.empty_examples.size() ? ", ..." : "");
    if (mode.missing > 0) fmt::print("            {} missing with all their cells\n", human_count(mode.missing));
  }
  for (const auto& [mode, edges, missing] : report.networks)
    fmt::print("network     {}: {} edges{}\n", mode, human_count(static_cast<double>(edges)),
               missing == 0 ? "" : fmt::format(", {} pairs missing", human_count(static_cast<double>(missing))));
  if (report.missing_volume > 0)
    fmt::print("missing     {} cells ({:.3g} %), {} of them listed one by one\n", human_count(report.missing_volume),
               100 * report.missing_volume / report.volume, human_count(static_cast<double>(report.missing_cells)));
  fmt::print("duplicates  {}\n", human_count(static_cast<double>(report.duplicates)));
  for (const auto& item : report.duplicate_examples)
    fmt::print("            line {} repeats line {}: {}\n", item.line, item.first_line, item.cell);
  if (report.duplicates > report.duplicate_examples.size() && !report.duplicate_examples.empty())
    fmt::print("            ...\n");
  if (report.same_entities) print_same_entities(*report.same_entities);
  fmt::print("a fit at rank {}{} with {} threads will take about\n", options.rank,
             shares_columns(options) ? fmt::format(" and --columns {}", fmt::join(options.columns, ",")) : "",
             options.threads);
  fmt::print("memory      {}\n", human_bytes(report.cost.memory));
  fmt::print("draws       {} in a file of {}\n", report.cost.draws, human_bytes(report.cost.draws_file));
  fmt::print("time        {} a {}, {} in all\n", human_seconds(report.seconds_per_sweep),
             is_online(options) ? "step" : "sweep",
             human_seconds(report.seconds_per_sweep * static_cast<double>(options.sweeps * options.chains)));
  print_warnings(report.warnings);
}

}  // namespace

void add_check(CLI::App& app) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command = app.add_subcommand("check", "What is in a file, what is odd about it, what a fit will take");
  add_data_flags(*command, flags->read, true);
  FitOptions& options = flags->options;
  add_choice(*command, "--likelihood", options.likelihood, "binary or count (last column of the file)");
  add_choice(*command, "--method", options.method, "of the fit to estimate: batch or online");
  command->add_option("--minibatch", options.minibatch, "its minibatch, online")
      ->default_str("as fit")
      ->check(allowed_range("minibatch"));
  command->add_option("--rank", options.rank, "rank of the fit to estimate")->check(allowed_range("rank"));
  command->add_option("--columns", options.columns, "its columns, where components share them")
      ->default_str("")
      ->allow_extra_args(false);
  command->add_option("--tie", options.tie, "its tied modes, as MODE=MODE")->default_str("")->allow_extra_args(false);
  add_choice(*command, "--self", options.self, "its cells (i, i) of tied modes: missing or zero");
  command->add_option("--sweeps", options.sweeps, "its sweeps")->check(allowed_range("sweeps"));
  command->add_option("--chains", options.chains, "its chains")->check(allowed_range("chains"));
  command->add_option("--holdout", options.holdout, "its share of held-out ones")->check(allowed_range("holdout"));
  add_threads_flag(*command, flags->read.threads);
  command->add_flag("--json", flags->json, "as one JSON object");
  command->footer("Example:\n  ztp check ones.tsv --rank 50");
  command->callback([flags, command] {
    flags->options.threads = flags->read.threads;
    check_options(flags->options, given_options(*command), true);
    const CheckReport report = check(flags->read, flags->options);
    if (flags->json)
      fmt::print("{}\n", json_text(as_json(report), 2));
    else
      print_text(report);
  });
}

}  // namespace ztp::app
