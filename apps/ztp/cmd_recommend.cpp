#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "columns_and_core.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/posterior.hpp"
#include "ztp/read.hpp"

namespace ztp::app {
namespace {

struct RecommendFlags {
  std::string run;
  std::vector<std::string> fixed;
  std::size_t top = 10;
  bool json = false;
  unsigned threads = 0;
  PredictionOptions options;
};

std::vector<std::optional<std::uint32_t>> fixed_entities(const RecommendFlags& flags, const std::vector<Mode>& modes) {
  std::vector<std::optional<std::uint32_t>> entities(modes.size());
  for (const std::string& item : flags.fixed) {
    const auto [name, label] = split_assignment(item, "recommend RUN", "LABEL");
    std::size_t k = 0;
    std::string names;
    for (const Mode& mode : modes) names += (names.empty() ? "" : ", ") + mode.name;
    while (k < modes.size() && modes[k].name != name) ++k;
    if (k == modes.size())
      throw Error(ErrorKind::usage, fmt::format("{}: no mode \"{}\"; the modes are {}", item, name, names));
    if (entities[k]) throw Error(ErrorKind::usage, fmt::format("{}: {} is given twice", item, name));
    entities[k] = modes[k].labels.find(label);
    if (!entities[k]) throw Error(ErrorKind::input, fmt::format("{}: no {} is called \"{}\"", item, name, label));
  }
  return entities;
}

nlohmann::ordered_json as_json(const Recommendation& item, const Posterior& posterior) {
  const std::vector<Mode>& modes = posterior.modes();
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < modes.size(); ++k) json["cell"][modes[k].name] = modes[k].labels[item.cell[k]];
  json["probability"] = item.prediction.probability;
  json["sd"] = item.prediction.sd;
  json["q05"] = item.prediction.q05;
  json["q95"] = item.prediction.q95;
  json["why"] = nlohmann::ordered_json::array();
  for (const auto& part : item.parts)
    if (part.columns.empty())
      json["why"].push_back({{"component", part.component}, {"share", part.share}});
    else
      json["why"].push_back({{"columns", entry_json(part.columns, posterior)}, {"share", part.share}});
  return json;
}

constexpr std::size_t parts_in_a_line = 5;

std::string as_line(const Recommendation& item, const Posterior& posterior) {
  const std::vector<Mode>& modes = posterior.modes();
  std::string line;
  for (std::size_t k = 0; k < modes.size(); ++k) line += modes[k].labels[item.cell[k]] + "\t";
  const Prediction& p = item.prediction;
  line += fmt::format("{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t", p.probability, p.sd, p.q05, p.q95);
  for (std::size_t i = 0; i < item.parts.size() && i < parts_in_a_line; ++i) {
    const Recommendation::Part& part = item.parts[i];
    const std::string name =
        part.columns.empty() ? fmt::format("{}", part.component) : entry_text(part.columns, posterior);
    line += fmt::format("{}{}:{:.0f}%", i == 0 ? "" : " ", name, 100 * part.share);
  }
  return line;
}

void run_recommend(const RecommendFlags& flags) {
  Posterior posterior(flags.run, flags.threads, flags.options);
  const auto fixed = fixed_entities(flags, posterior.modes());
  std::string header;
  if (!flags.json) {
    header = "#";
    for (const Mode& mode : posterior.modes()) header += mode.name + "\t";
    header += "probability\tsd\tq05\tq95\twhy\n";
  }
  MentionedColumns columns(posterior);
  // A search that fails prints nothing, not even the header.
  posterior.recommend(fixed, flags.top, [&](const Recommendation& item) {
    fmt::print("{}{}\n", std::exchange(header, ""),
               flags.json ? json_text(as_json(item, posterior)) : as_line(item, posterior));
    for (std::size_t i = 0; i < item.parts.size() && i < parts_in_a_line; ++i)
      if (!item.parts[i].columns.empty()) columns.add(item.parts[i].columns);
    return true;
  });
  fmt::print("{}", header);
  if (!flags.json) columns.print();
  warn_of_predictions(flags.run);
}

}  // namespace

void add_recommend(CLI::App& app) {
  auto flags = std::make_shared<RecommendFlags>();
  CLI::App* command = app.add_subcommand("recommend", "The most probable unseen cells, and why");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_option("GIVEN", flags->fixed, "MODE=LABEL: what is given; modes not named are left open");
  command->add_option("--top", flags->top, "how many")->check(CLI::Range(1, 1000000));
  add_raw_flag(*command, flags->options.raw);
  add_listed_flag(*command, flags->options.listed);
  add_kernel_flag(*command, flags->options.kernel);
  add_threads_flag(*command, flags->threads);
  command->add_flag("--json", flags->json, "one JSON object a line");
  command->footer(
      "The last column says which components (of the first chain) make up the rate of the cell.\n"
      "Of a run with --columns: which entries of the core, (3, brother, 1) by its columns; who is in these columns is\n"
      "said below.\n"
      "The search is exact, whatever is left open; training ones are left out. q05 and q95 are those of 'ztp "
      "predict'.\n"
      "A GPU has no part in the search: with --kernel cuda it predicts what was found.\n"
      "A cell that is not listed may still be a true one. If the data list nine of ten true ones, --listed 0.9 gives "
      "the\n"
      "probability that such a cell is one.\n"
      "Examples:\n  ztp recommend run user=alice --top 5\n  ztp recommend run user=alice --listed 0.9");
  command->callback([flags] { run_recommend(*flags); });
}

}  // namespace ztp::app
