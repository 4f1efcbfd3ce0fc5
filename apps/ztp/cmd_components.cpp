#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "columns_and_core.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/posterior.hpp"

namespace ztp::app {
namespace {

struct ComponentsFlags {
  std::string run;
  std::size_t top = 10, component = 0, chain = 1;
  std::vector<std::string> modes;
  bool all = false, json = false;
  unsigned threads = 0;
};

// Which modes to show, in the order of the tensor.
std::vector<std::size_t> chosen_modes(const ComponentsFlags& flags, const std::vector<Mode>& modes) {
  std::vector<std::size_t> chosen;
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  for (const std::string& name : flags.modes)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(ErrorKind::usage,
                  fmt::format("--mode {}: no such mode; the modes are {}", name, fmt::join(names, ", ")));
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (flags.modes.empty() || std::find(flags.modes.begin(), flags.modes.end(), names[k]) != flags.modes.end())
      chosen.push_back(k);
  return chosen;
}

void print_text(const Component& c, const Posterior& posterior, const std::vector<std::size_t>& chosen) {
  const std::vector<Mode>& modes = posterior.modes();
  fmt::print("component {}: weight {:.1f} [{:.1f}, {:.1f}], {:.1f} % of the ones{}\n", c.number, c.weight, c.weight_q05,
             c.weight_q95, 100 * c.share, stability_text(c.stability, posterior.info()));
  for (const std::size_t k : chosen) {
    fmt::print("  {}\n", modes[k].name);
    for (const auto& entity : c.top[k]) fmt::print("    {:.4f}  {}\n", entity.value, modes[k].labels[entity.id]);
  }
}

nlohmann::ordered_json as_json(const Component& c, const std::vector<Mode>& modes,
                               const std::vector<std::size_t>& chosen) {
  nlohmann::ordered_json json;
  json["component"] = c.number;
  json["weight"] = c.weight;
  json["weight_q05"] = c.weight_q05;
  json["weight_q95"] = c.weight_q95;
  json["share"] = c.share;
  json["stability"] = c.stability;  // null, if it is not a number
  for (const std::size_t k : chosen)
    for (const auto& entity : c.top[k])
      json["top"][modes[k].name].push_back({{"label", modes[k].labels[entity.id]}, {"value", entity.value}});
  return json;
}

void run_components(const ComponentsFlags& flags) {
  Posterior posterior(flags.run, flags.threads);
  const std::vector<std::size_t> chosen = chosen_modes(flags, posterior.modes());
  if (shares_columns(posterior.info().options)) {
    if (flags.component != 0 || !flags.modes.empty())
      throw Error(
          ErrorKind::usage,
          "--component and --mode cannot be used for a run with --columns: it has columns and a core, not components");
    const ColumnsAndCore found(posterior, flags.top, flags.chain - 1, flags.all);
    if (flags.json)
      fmt::print("{}\n", json_text(found.json(), 2));
    else
      found.print();
    return;
  }
  if (flags.component > static_cast<std::size_t>(posterior.info().options.rank))
    throw Error(ErrorKind::usage,
                fmt::format("--component {}: the run has only {}", flags.component, posterior.info().options.rank));
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::size_t empty = 0;
  for (const Component& c : posterior.components(flags.top, flags.chain - 1)) {
    if (flags.component != 0 && c.number != flags.component) continue;
    if (flags.component == 0 && !flags.all && c.weight < weight_of_empty) {
      ++empty;
      continue;
    }
    if (flags.json)
      json.push_back(as_json(c, posterior.modes(), chosen));
    else
      print_text(c, posterior, chosen);
  }
  if (flags.json)
    fmt::print("{}\n", json_text(json, 2));
  else if (empty > 0)
    fmt::print("{} further components are empty (--all shows them)\n", empty);
}

}  // namespace

void add_components(CLI::App& app) {
  auto flags = std::make_shared<ComponentsFlags>();
  CLI::App* command = app.add_subcommand("components", "List the components by weight, with their top entities");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_option("--top", flags->top, "entities of each mode")->check(CLI::Range(1, 1000000000));
  command->add_option("--mode", flags->modes, "only this mode (repeatable)")->allow_extra_args(false);
  command->add_option("--component", flags->component, "only this component")
      ->default_str("all components that are not empty")
      ->check(allowed_range("rank"));
  command->add_option("--chain", flags->chain, "the chain to show; each chain has its own order of components")
      ->check(allowed_range("chains"));
  command->add_flag("--all", flags->all, "show empty components, too");
  add_threads_flag(*command, flags->threads);
  command->add_flag("--json", flags->json, "as JSON");
  command->footer(
      "Weights are expected latent counts, with a 90 % interval. With several chains, the stability tells how\n"
      "closely the other chains have the same component: 1 if all have it, 0 if none has anything like it, - if it\n"
      "is empty.\n"
      "For a run with --columns, the output has the columns with their top entities, and the core: which columns\n"
      "meet, and with which weight. An entry of the core is stable if the other chains have it, too, in the\n"
      "corresponding columns.\n"
      "Example:\n"
      "  ztp components run --top 5");
  command->callback([flags] { run_components(*flags); });
}

}  // namespace ztp::app
