#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "commands.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "ztp/error.hpp"
#include "ztp/posterior.hpp"

namespace ztp::app {
namespace {

struct EvaluateFlags {
  std::string run, test;
  unsigned threads = 0;
  bool json = false, raw = false;
  KernelName kernel = KernelName::automatic;
  std::string memory;
  bool skip_unknown = false;
  std::size_t head = 1000;
  std::optional<std::string> ranking;  // modes; nothing: no ranking
  RankingOptions options;
};

nlohmann::ordered_json number_or_null(double value) {
  return std::isnan(value) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
}

nlohmann::ordered_json as_json(const Metrics& m) {
  nlohmann::ordered_json json;
  for (const MetricField& field : metric_fields()) json[field.key] = number_or_null(m.*field.member);
  return json;
}

void print_json(const Evaluation& m, const std::vector<HeadOfList>& heads) {
  nlohmann::ordered_json json = as_json(m);
  if (m.counts) json["deviance"] = m.counts->deviance;
  if (m.counts) json["log_score"] = m.counts->log_score;
  json["ones"] = m.ones;
  json["zeros"] = m.zeros;
  json["zero_weight"] = number_or_null(m.zero_weight);
  json["popularity"] = as_json(m.popularity);
  json["head"] = nlohmann::ordered_json::array();
  for (const HeadOfList& head : heads)
    json["head"].push_back({{"cells", head.cells}, {"expected", head.expected}, {"found", head.found}});
  fmt::print("{}\n", json_text(json));
}

void print_table(const Evaluation& m, const std::vector<HeadOfList>& heads, const std::string& calibration) {
  const auto count = [](auto value) { return human_count(static_cast<double>(value)); };
  fmt::print("{:<22}  {} ones, {} zeros\n", "test cells", count(m.ones), count(m.zeros));
  fmt::print("{:<22}  {:>12}  {:>12}\n", "", "model", "popularity");
  const auto score = [](double value, int digits) {
    return std::isnan(value) ? "not defined" : fmt::format("{:.{}f}", value, digits);
  };
  for (const MetricField& field : metric_fields())
    fmt::print("{:<22}  {:>12}  {:>12}\n", field.title, score(m.*field.member, field.digits),
               score(m.popularity.*field.member, field.digits));
  if (m.counts)
    fmt::print("{:<22}  {:>12.5f}\n{:<22}  {:>12.5f}\n", "deviance of counts", m.counts->deviance,
               "log score of counts", m.counts->log_score);
  fmt::print("{}\n", calibration);
  if (heads.empty()) return;
  fmt::print("\nheld-out ones among the most probable unseen cells\n");
  fmt::print("{:<22}  {:>12}  {:>12}\n", "", "expected", "found");
  for (const HeadOfList& head : heads)
    fmt::print("{:<22}  {:>12.1f}  {:>12}\n", fmt::format("first {}", count(head.cells)), head.expected,
               count(head.found));
}

// The modes of "MODE,MODE"; an empty list, which stands for all modes, for "all".
std::vector<std::size_t> modes_named(const std::string& text, const std::vector<Mode>& modes) {
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  const auto find = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  if (find(text) < modes.size()) return {find(text)};  // also a name with a comma, or a mode that is called "all"
  if (text == "all") return {};
  std::vector<std::size_t> result;
  std::istringstream parts(text);
  if (text.empty() || text.back() == ',')
    throw Error(ErrorKind::usage, fmt::format("--ranking {}: the name of a mode is missing; the modes are {}", text,
                                              fmt::join(names, ", ")));
  for (std::string name; std::getline(parts, name, ',');) {
    if (find(name) == modes.size())
      throw Error(ErrorKind::usage, fmt::format("--ranking {}: no mode \"{}\"; the modes are {} (or all of them: all)",
                                                text, name, fmt::join(names, ", ")));
    if (std::find(result.begin(), result.end(), find(name)) != result.end())
      throw Error(ErrorKind::usage, fmt::format("--ranking {}: {} is given twice", text, name));
    result.push_back(find(name));
  }
  return result;
}

nlohmann::ordered_json as_json(const RankingMetrics& m, const std::vector<std::uint32_t>& at) {
  nlohmann::ordered_json json;
  for (const RankingField& field : ranking_fields()) {
    if (const auto each = std::get_if<std::vector<double> RankingMetrics::*>(&field.member)) {
      for (std::size_t i = 0; i < at.size(); ++i) json[field.key][std::to_string(at[i])] = (m.**each)[i];
    } else if (const auto value = std::get_if<double RankingMetrics::*>(&field.member)) {
      json[field.key] = m.**value;
    } else {
      json[field.key] = m.*std::get<std::uint64_t RankingMetrics::*>(field.member);
    }
  }
  return json;
}

void print_json(const Ranking& ranking, const std::vector<Mode>& modes) {
  nlohmann::ordered_json json;
  json["test_ones"] = ranking.test_ones;
  json["draws"] = ranking.draws;
  for (std::size_t i = 0; i < ranking.modes.size(); ++i)
    json["modes"][modes[ranking.modes[i]].name] = as_json(ranking.by_mode[i], ranking.at);
  json["all"] = as_json(ranking.all, ranking.at);
  json["popularity"] = as_json(ranking.popularity, ranking.at);
  fmt::print("{}\n", json_text(json));
}

// A column for each mode, and one for all of them if there are several.
void print_table(const Ranking& ranking, const std::vector<Mode>& modes) {
  std::vector<std::pair<std::string, const RankingMetrics*>> columns;
  for (std::size_t i = 0; i < ranking.modes.size(); ++i)
    columns.emplace_back(modes[ranking.modes[i]].name, &ranking.by_mode[i]);
  if (columns.size() > 1) columns.emplace_back("all", &ranking.all);
  columns.emplace_back("popularity", &ranking.popularity);
  const auto row = [&](const std::string& name, auto&& text) {
    fmt::print("{:<12}", name);
    for (const auto& [mode, metrics] : columns)
      fmt::print("  {:>{}}", text(*metrics), std::max<std::size_t>(mode.size(), 9));
    fmt::print("\n");
  };
  const auto count = [](std::uint64_t value) { return human_count(static_cast<double>(value)); };
  fmt::print("{} test ones, {} draws\n", count(ranking.test_ones), ranking.draws);
  fmt::print("{:<12}", "replaced");
  for (const auto& [mode, metrics] : columns) fmt::print("  {:>9}", mode);
  fmt::print("\n");
  for (const RankingField& field : ranking_fields()) {
    if (const auto each = std::get_if<std::vector<double> RankingMetrics::*>(&field.member)) {
      for (std::size_t i = 0; i < ranking.at.size(); ++i)
        row(fmt::format("{}@{}", field.title, ranking.at[i]),
            [&](const RankingMetrics& m) { return fmt::format("{:.{}f}", (m.**each)[i], field.digits); });
    } else if (const auto value = std::get_if<double RankingMetrics::*>(&field.member)) {
      row(field.title, [&](const RankingMetrics& m) { return fmt::format("{:.{}f}", m.**value, field.digits); });
    } else {
      row(field.title,
          [&](const RankingMetrics& m) { return count(m.*std::get<std::uint64_t RankingMetrics::*>(field.member)); });
    }
  }
}

void run_ranking(const EvaluateFlags& flags, Posterior& posterior) {
  RankingOptions options = flags.options;
  options.modes = modes_named(*flags.ranking, posterior.modes());
  Ranking ranking;
  {
    ProgressLine line;
    options.progress = [&](double part) { line.show("ranking", part); };
    ranking = posterior.rank(flags.test, options);
  }
  if (flags.json)
    print_json(ranking, posterior.modes());
  else
    print_table(ranking, posterior.modes());
  print_skipped(posterior);
}

// The sizes 10, 100, ... up to the one that was asked for.
std::vector<std::size_t> head_sizes(std::size_t most) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 10; size < most; size *= 10) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

// Why some scores are not defined.
void warn_of_outcomes(const Metrics& metrics, const std::string& where) {
  if (metrics.ones > 0 && metrics.zeros > 0) return;
  const bool ones = metrics.ones > 0;
  print_warnings({fmt::format(
      "{}: there are no {} among the test cells; AUC-ROC, AUC-PR, skill, calibration and misplaced ones need both ones "
      "and zeros, and the other scores are those of the {} alone",
      where, ones ? "zeros" : "ones", ones ? "ones" : "zeros")});
}

void run_evaluate(const EvaluateFlags& flags) {
  Posterior posterior(
      flags.run, flags.threads,
      {.raw = flags.raw, .kernel = flags.kernel, .memory = flags.memory, .skip_unknown = flags.skip_unknown});
  if (flags.ranking) modes_named(*flags.ranking, posterior.modes());  // a TEST in their place is told first
  if (flags.test.empty() && posterior.info().test_ones + posterior.info().test_zeros == 0)
    throw Error(ErrorKind::usage,
                fmt::format("{} held out no cells: name a TEST file (labels and a last column 0 or 1)", flags.run));
  if (flags.ranking) return run_ranking(flags, posterior);
  const Evaluation metrics = posterior.evaluate(flags.test);
  std::vector<HeadOfList> heads;
  if (flags.head > 0 && metrics.ones > 0 && !is_rival(posterior.info().options)) {
    ProgressLine line;
    line.show("the most probable unseen cells", 0);
    heads = posterior.head(head_sizes(flags.head), flags.test);
  }
  if (flags.json)
    print_json(metrics, heads);
  else
    print_table(metrics, heads, posterior.calibration_words());
  warn_of_outcomes(metrics, flags.test.empty() ? flags.run : flags.test);
  print_skipped(posterior);
}

void add_ranking_flags(CLI::App& command, EvaluateFlags& flags) {
  CLI::Option* ranking = command
                             .add_option("--ranking", flags.ranking,
                                         "rank test ones among all entities of these modes: MODE,MODE,... or all")
                             ->expected(0, 1)
                             ->default_str("all");
  command.add_option("--at", flags.options.at, "with --ranking: k of Hits@k, recall@k and NDCG@k")
      ->delimiter(',')
      ->check(CLI::Range(1u, most_places))
      ->needs(ranking);
  command
      .add_option("--filter", flags.options.filter,
                  "with --ranking: a file of more known ones, such as a validation set (repeatable)")
      ->allow_extra_args(false)
      ->needs(ranking);
  command.add_option("--draws", flags.options.draws, "with --ranking: maximum number of draws to use, evenly spaced")
      ->default_str("all")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000000000}))
      ->needs(ranking);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App* command = app.add_subcommand("evaluate", "Score the predictions of test cells");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_option("TEST", flags->test, "file of test cells: labels, and a last column with 0, 1 or a count")
      ->default_str("the cells that the fit held out");
  command->add_option("--head", flags->head, "number of most probable unseen cells to look at; 0: none")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1000000}));
  add_skip_unknown_flag(*command, flags->skip_unknown);
  add_raw_flag(*command, flags->raw);
  add_ranking_flags(*command, *flags);
  add_kernel_flag(*command, flags->kernel);
  add_memory_flag(*command, flags->memory);
  add_threads_flag(*command, flags->threads);
  command->add_flag("--json", flags->json, "print one JSON object");
  command->footer(
      "Log-loss, Brier score, skill and calibration describe the whole tensor: each test zero has a weight, the\n"
      "number of zeros that it stands for. The zeros of a file are taken as a uniform sample of all zeros. Scores\n"
      "called 'test' count each test cell once; use them to compare runs on the same file.\n"
      "Skill is 0 for a constant and 1 for a perfect prediction. A calibration slope of 1 is right; above 1,\n"
      "probabilities are underconfident. Misplaced is the share of the ones that were expected at the wrong\n"
      "probabilities. Popularity predicts from the number of ones of each entity alone.\n"
      "Without ones or without zeros, AUCs, skill and calibration are not defined (null in JSON).\n"
      "The last table counts the held-out ones among the most probable unseen cells: how many were expected, and\n"
      "how many were found.\n"
      "With --ranking, each test one competes with the cells in which another entity takes the place of its own.\n"
      "Known ones (training, TEST, --filter) do not compete. Its rank is by posterior mean probability. MRR and\n"
      "Hits@k are averages over ranks; recall@k and NDCG@k are averages over queries (the distinct settings of the\n"
      "other coordinates). TEST may then lack the last column, and its zeros are ignored.\n"
      "Examples:\n"
      "  ztp evaluate run split/test.tsv\n"
      "  ztp evaluate run test.tsv --ranking head,tail --filter valid.tsv\n"
      "  ztp evaluate run test.tsv --ranking movie --at 10,20");
  command->callback([flags] { run_evaluate(*flags); });
}

}  // namespace ztp::app
