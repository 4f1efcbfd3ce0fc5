#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "model/layout_options.hpp"
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

// The stability of a component; empty if the run has one chain.
std::string stability_text(const Component& c, const RunInfo& info) {
  if (info.options.chains == 1) return "";
  return std::isnan(c.stability) ? ", stability -" : fmt::format(", stability {:.2f}", c.stability);
}

void print_text(const Component& c, const Posterior& posterior, const std::vector<std::size_t>& chosen) {
  const std::vector<Mode>& modes = posterior.modes();
  fmt::print("component {}: weight {:.1f} [{:.1f}, {:.1f}], {:.1f} % of the ones{}\n", c.number, c.weight, c.weight_q05,
             c.weight_q95, 100 * c.share, stability_text(c, posterior.info()));
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

// Where components share columns: the columns of each mode, tied ones once, and the entries of the core.
struct SharedParts {
  struct OfMode {
    std::vector<std::size_t> modes;  // the mode, and one that is tied to it
    std::vector<Column> columns;
    bool own;  // a column for each entity
  };
  std::vector<OfMode> modes;
  std::vector<CoreEntry> core;
};

SharedParts shared_parts(Posterior& posterior, const ComponentsFlags& flags) {
  const RunInfo& info = posterior.info();
  std::vector<ModeSize> sizes;
  for (const RunInfo::ModeInfo& mode : info.modes) sizes.push_back({mode.name, mode.size});
  const std::vector<std::size_t> tied = tied_modes(info.options, sizes);
  SharedParts parts;
  for (std::size_t k = 0; k < tied.size(); ++k) {
    if (tied[k] < k) continue;  // its columns are those of the other mode
    std::vector<std::size_t> modes = {k};
    if (tied[k] > k) modes.push_back(tied[k]);
    parts.modes.push_back(
        {modes, posterior.columns(k, flags.top, flags.chain - 1), info.options.columns[k] == sizes[k].name + "=own"});
  }
  parts.core = posterior.core(flags.chain - 1);
  return parts;
}

bool is_shown(const Column& column, const ComponentsFlags& flags) {
  return flags.all || column.weight >= weight_of_empty;
}

// What an entry has in mode k: a column, or an entity that has its own.
std::string name_in_entry(const CoreEntry& entry, const SharedParts& parts, const std::vector<Mode>& modes,
                          std::size_t k) {
  for (const SharedParts::OfMode& of_mode : parts.modes)
    if (of_mode.own && of_mode.modes.front() == k)
      return modes[k].labels[static_cast<std::uint32_t>(entry.columns[k] - 1)];
  return fmt::format("{}", entry.columns[k]);
}

void print_shared(const SharedParts& parts, const ComponentsFlags& flags, const std::vector<Mode>& modes) {
  for (const SharedParts::OfMode& of_mode : parts.modes) {
    if (of_mode.own) continue;
    std::string names;
    for (const std::size_t k : of_mode.modes) names += (names.empty() ? "" : ", ") + modes[k].name;
    for (const Column& column : of_mode.columns) {
      if (!is_shown(column, flags)) continue;
      fmt::print("column {} of {}: weight {:.1f} [{:.1f}, {:.1f}]\n", column.number, names, column.weight,
                 column.weight_q05, column.weight_q95);
      for (const auto& entity : column.top)
        fmt::print("    {:.4f}  {}\n", entity.value, modes[of_mode.modes.front()].labels[entity.id]);
    }
  }
  std::string head;
  for (const Mode& mode : modes) head += mode.name + "\t";
  fmt::print("core\n{}weight\tq05\tq95\n", head);
  for (const CoreEntry& entry : parts.core) {
    for (std::size_t k = 0; k < modes.size(); ++k) fmt::print("{}\t", name_in_entry(entry, parts, modes, k));
    fmt::print("{:.1f}\t{:.1f}\t{:.1f}\n", entry.weight, entry.weight_q05, entry.weight_q95);
  }
}

nlohmann::ordered_json shared_json(const SharedParts& parts, const ComponentsFlags& flags,
                                   const std::vector<Mode>& modes) {
  nlohmann::ordered_json json = {{"columns", nlohmann::ordered_json::array()},
                                 {"core", nlohmann::ordered_json::array()}};
  for (const SharedParts::OfMode& of_mode : parts.modes)
    for (const Column& column : of_mode.columns) {
      if (of_mode.own || !is_shown(column, flags)) continue;
      nlohmann::ordered_json item;
      for (const std::size_t k : of_mode.modes) item["modes"].push_back(modes[k].name);
      item["column"] = column.number;
      item["weight"] = column.weight;
      item["weight_q05"] = column.weight_q05;
      item["weight_q95"] = column.weight_q95;
      for (const auto& entity : column.top)
        item["top"].push_back({{"label", modes[of_mode.modes.front()].labels[entity.id]}, {"value", entity.value}});
      json["columns"].push_back(item);
    }
  for (const CoreEntry& entry : parts.core) {
    nlohmann::ordered_json item;
    for (std::size_t k = 0; k < modes.size(); ++k) item[modes[k].name] = name_in_entry(entry, parts, modes, k);
    item["weight"] = entry.weight;
    item["weight_q05"] = entry.weight_q05;
    item["weight_q95"] = entry.weight_q95;
    json["core"].push_back(item);
  }
  return json;
}

void run_components(const ComponentsFlags& flags) {
  Posterior posterior(flags.run, flags.threads);
  const std::vector<std::size_t> chosen = chosen_modes(flags, posterior.modes());
  if (shares_columns(posterior.info().options)) {
    if (flags.component != 0 || !flags.modes.empty())
      throw Error(ErrorKind::usage,
                  "--component and --mode: not for a run with --columns, which has columns and a core");
    const SharedParts parts = shared_parts(posterior, flags);
    if (flags.json)
      fmt::print("{}\n", json_text(shared_json(parts, flags, posterior.modes()), 2));
    else
      print_shared(parts, flags, posterior.modes());
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
  CLI::App* command = app.add_subcommand("components", "The components by weight, with their top entities");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_option("--top", flags->top, "entities of each mode")->check(CLI::Range(1, 1000000000));
  command->add_option("--mode", flags->modes, "only this mode (repeatable)")->allow_extra_args(false);
  command->add_option("--component", flags->component, "only this component")
      ->default_str("all that are not empty")
      ->check(allowed_range("rank"));
  command->add_option("--chain", flags->chain, "of which chain; each has its own order of components")
      ->check(allowed_range("chains"));
  command->add_flag("--all", flags->all, "empty components, too");
  add_threads_flag(*command, flags->threads);
  command->add_flag("--json", flags->json, "as JSON");
  command->footer(
      "Weights are expected latent counts, with a 90 % interval. With several chains, the stability tells how far the\n"
      "others have a component, too: 1 if all have the same, 0 if none has anything like it, - if it is empty.\n"
      "Of a run with --columns: the columns with their top entities, and the core, which says in which weights they "
      "meet.\n"
      "Example:\n  ztp components run --top 5");
  command->callback([flags] { run_components(*flags); });
}

}  // namespace ztp::app
