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
  std::size_t ranks = 1;
  bool json = false;
};

// The flags that a fit would tie these modes with.
std::string flags_of(const CheckReport::SameEntities& same) {
  return fmt::format("--tie {} --self-cells {}", quoted_for_shell(same.first + "=" + same.second),
                     name_of(same.self_cells));
}

const char* separator_text(char separator) {
  return separator == '\t' ? "TAB" : separator == ',' ? "commas" : separator == ';' ? "semicolons" : "spaces";
}

bool has_labels(const FileSummary& file) {
  return file.format == FileFormat::tsv || file.format == FileFormat::csv;
}

nlohmann::ordered_json as_json(const FileSummary& file) {
  nlohmann::ordered_json json = {{"file", file.file},
                                 {"use", file.use},
                                 {"format", name_of(file.format)},
                                 {"separator", std::string(1, file.separator)}};
  json["header"] = nullptr;
  if (has_labels(file)) json["header"] = file.header;
  json["columns"] = file.columns;
  json["value_column"] = file.values;
  return json;
}

// "friends.csv: csv, columns separated by commas (user, user), line 1 is a header".
std::string file_text(const FileSummary& file) {
  std::string text = fmt::format("{}: {} as {}", file.file, file.use, name_of(file.format));
  if (file.columns.size() > 1 || file.values)
    text += fmt::format(", columns separated by {}: {}{}", separator_text(file.separator),
                        fmt::join(file.columns, ", "), file.values ? ", and a value" : "");
  if (has_labels(file)) text += file.header ? "; the first line is a header" : "; no header";
  return text;
}

nlohmann::ordered_json as_json(const CheckReport& report) {
  nlohmann::ordered_json json;
  json["files"] = nlohmann::ordered_json::array();
  for (const FileSummary& file : report.files) json["files"].push_back(as_json(file));
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
  json["notes"] = report.notes;
  json["same_entities"] = nullptr;
  if (const auto& same = report.same_entities)
    json["same_entities"] = {{"modes", {same->first, same->second}},
                             {"shared", same->shared},
                             {"of", {same->first_entities, same->second_entities}},
                             {"self_ones", same->self_ones},
                             {"flags", flags_of(*same)}};
  json["fit"] = {{"rank", report.options.rank},
                 {"columns", report.options.columns},
                 {"memory_bytes", report.cost.memory},
                 {"draws", report.cost.draws},
                 {"draws_bytes", report.cost.draws_file},
                 {"run_directory_bytes", report.cost.run_directory},
                 {"seconds_per_sweep", report.seconds_per_sweep},
                 {"chains", report.options.chains},
                 {"chains_at_once", report.cost.chains_at_once},
                 {"seconds", report.seconds}};
  json["fit"]["ranks"] = report.ranks;
  json["fit"]["process"] = nullptr;
  if (report.process)
    json["fit"]["process"] = {{"memory_bytes", report.process->memory},
                              {"bytes_sent_per_sweep", report.process->bytes_per_sweep},
                              {"gpu_memory_bytes", report.process->gpu_memory}};
  json["fit"]["rank_chosen"] = nullptr;
  if (!report.rank_choice.trials.empty()) json["fit"]["rank_chosen"] = rank_choice_text(report.rank_choice);
  json["fit_at_smallest_rank"] = nullptr;
  if (const auto& smallest = report.smallest_rank)
    json["fit_at_smallest_rank"] = {{"rank", smallest->rank},
                                    {"memory_bytes", smallest->cost.memory},
                                    {"draws", smallest->cost.draws},
                                    {"draws_bytes", smallest->cost.draws_file},
                                    {"run_directory_bytes", smallest->cost.run_directory},
                                    {"seconds_per_sweep", smallest->seconds_per_sweep},
                                    {"chains_at_once", smallest->cost.chains_at_once},
                                    {"seconds", smallest->seconds}};
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
  if (same.self_cells == SelfCells::missing)
    fmt::print("            (Use --self-cells zero if an entity could relate to itself, but never does.)\n");
}

std::string chains_text(const FitOptions& options, const FitCost& cost) {
  return fmt::format(
      "{}, {}", options.chains,
      cost.chains_at_once == 1 ? "one after the other" : fmt::format("{} at a time", cost.chains_at_once));
}

// What a fit will take; from the smallest to the largest rank, where it is not known.
void print_fit(const CheckReport& report) {
  const FitOptions& options = report.options;
  const auto& smallest = report.smallest_rank;
  const auto range = [&](const auto& text) {
    const std::string most = text(options.rank, report.cost, report.seconds_per_sweep, report.seconds);
    if (!smallest) return most;
    return fmt::format("{} to {}", text(smallest->rank, smallest->cost, smallest->seconds_per_sweep, smallest->seconds),
                       most);
  };
  if (!report.rank_choice.trials.empty()) fmt::print("{}\n", rank_choice_text(report.rank_choice));
  if (smallest) fmt::print("rank auto   not determined: that would take too long for a check\n");
  fmt::print("a fit at rank {}{} with {} threads will take about\n",
             range([](std::int64_t rank, const FitCost&, double, double) { return fmt::format("{}", rank); }),
             shares_columns(options) ? fmt::format(" and --columns {}", fmt::join(options.columns, ",")) : "",
             options.threads);
  fmt::print("chains      {}\n", chains_text(options, report.cost));
  fmt::print("memory      {}\n",
             range([](std::int64_t, const FitCost& cost, double, double) { return human_bytes(cost.memory); }));
  fmt::print("draws       {} in a file of {}\n", report.cost.draws,
             range([](std::int64_t, const FitCost& cost, double, double) { return human_bytes(cost.draws_file); }));
  fmt::print("disk        {} in the run directory, and the draws once more while the fit ends\n",
             range([](std::int64_t, const FitCost& cost, double, double) { return human_bytes(cost.run_directory); }));
  fmt::print("time        {} per {}, {} in all\n",
             range([](std::int64_t, const FitCost&, double sweep, double) { return human_seconds(sweep); }),
             is_online(options) ? "step" : "sweep",
             range([](std::int64_t, const FitCost&, double, double all) { return human_seconds(all); }));
  if (report.process)
    fmt::print(
        "processes   {}: each needs {}{} and sends {} per sweep\n", report.ranks, human_bytes(report.process->memory),
        report.process->gpu_memory > 0 ? fmt::format(", {} on its GPU,", human_bytes(report.process->gpu_memory)) : "",
        human_bytes(report.process->bytes_per_sweep));
  else if (report.ranks > 1)
    fmt::print("processes   {}: each needs the memory of a chain\n", report.ranks);
}

void print_text(const CheckReport& report) {
  for (const FileSummary& file : report.files) fmt::print("file        {}\n", file_text(file));
  fmt::print("ones        {} of {} cells ({:.3g} %)\n", human_count(static_cast<double>(report.ones)),
             human_count(report.volume), 100 * static_cast<double>(report.ones) / report.volume);
  for (const auto& mode : report.modes) {
    fmt::print("mode        {}: {} entities, most ones: {} ({})\n", mode.name, human_count(mode.size), mode.busiest,
               human_count(static_cast<double>(mode.busiest_ones)));
    if (mode.empty > 0)
      fmt::print("            {} without a one: {}{}\n", human_count(mode.empty), fmt::join(mode.empty_examples, ", "),
                 mode.empty > mode.empty_examples.size() ? ", ..." : "");
    if (mode.missing > 0) fmt::print("            {} with all cells missing\n", human_count(mode.missing));
  }
  for (const auto& [mode, edges, missing] : report.networks)
    fmt::print("network     {}: {} edges{}\n", mode, human_count(static_cast<double>(edges)),
               missing == 0 ? "" : fmt::format(", {} pairs missing", human_count(static_cast<double>(missing))));
  if (report.missing_volume > 0)
    fmt::print("missing     {} cells ({:.3g} %), {} of them listed individually\n", human_count(report.missing_volume),
               100 * report.missing_volume / report.volume, human_count(static_cast<double>(report.missing_cells)));
  fmt::print("duplicates  {}\n", human_count(static_cast<double>(report.duplicates)));
  if (report.zeros > 0) fmt::print("zeros       {}, ignored\n", human_count(static_cast<double>(report.zeros)));
  for (const auto& item : report.duplicate_examples)
    fmt::print("            line {} repeats line {}: {}\n", item.line, item.first_line, item.cell);
  if (report.duplicates > report.duplicate_examples.size() && !report.duplicate_examples.empty())
    fmt::print("            ...\n");
  if (report.same_entities) print_same_entities(*report.same_entities);
  print_fit(report);
  print_notes(report.notes);
  print_warnings(report.warnings);
}

}  // namespace

void add_check(CLI::App& app) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command =
      app.add_subcommand("check", "Describe a file, point out what is odd, and estimate the memory and time of a fit");
  add_data_flags(*command, flags->read, true);
  FitOptions& options = flags->options;
  add_choice(*command, "--likelihood", options.likelihood, "binary, or count (the last column is a count)");
  add_choice(*command, "--method", options.method, "method of the fit to estimate: batch or online");
  command->add_option("--minibatch", options.minibatch, "minibatch of the fit to estimate, with --method online")
      ->default_str("as in ztp fit")
      ->check(allowed_range("minibatch"));
  add_rank_flag(*command, options.rank, "rank of the fit to estimate");
  command->add_option("--columns", options.columns, "columns of the fit to estimate, if components share them")
      ->default_str("")
      ->allow_extra_args(false);
  command->add_option("--tie", options.tie, "tied modes of the fit to estimate: MODE=MODE")
      ->default_str("")
      ->allow_extra_args(false);
  add_choice(*command, "--self-cells", options.self_cells,
             "cells of an entity with itself in the fit to estimate: missing or zero");
  command->add_option("--sweeps", options.sweeps, "sweeps of the fit to estimate")->check(allowed_range("sweeps"));
  command->add_option("--chains", options.chains, "chains of the fit to estimate")
      ->default_str("as in ztp fit")
      ->check(allowed_range("chains"));
  command->add_option("--holdout", options.holdout, "share of the ones that the fit to estimate holds out")
      ->check(allowed_range("holdout"));
  add_threads_flag(*command, flags->read.threads);
  command->add_option("--ranks", flags->ranks, "number of processes of the fit to estimate (mpirun -n)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_flag("--json", flags->json, "print one JSON object");
  command->footer(
      "Examples:\n"
      "  ztp check ones.tsv --rank 50\n"
      "  ztp check ones.tsv --rank 50 --chains 1 --ranks 16");
  command->callback([flags, command] {
    flags->options.threads = flags->read.threads;
    check_options(flags->options, given_options(*command), true);
    const CheckReport report = check(flags->read, flags->options, flags->ranks);
    if (flags->json)
      fmt::print("{}\n", json_text(as_json(report), 2));
    else
      print_text(report);
  });
}

}  // namespace ztp::app
