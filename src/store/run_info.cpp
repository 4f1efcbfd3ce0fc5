#include "store/run_info.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/file.hpp"
#include "base/json.hpp"
#include "options/options_json.hpp"
#include "store/manifest.hpp"
#include "store/run_dir.hpp"
#include "tensor/mode_name.hpp"
#include "ztp/error.hpp"
#include "ztp/labels.hpp"

namespace ztp {
namespace {

Json number_or_null(double value) {
  return std::isnan(value) ? Json(nullptr) : Json(value);
}

double number_or_nan(const Json& json, const char* key) {
  return member(json, key).is_null() ? std::numeric_limits<double>::quiet_NaN() : real(json, key);
}

Json options_part(const RunInfo& info) {
  Json json;
  json["ztp_version"] = info.version;
  json["format"] = 1;
  json["command"] = info.command;
  json["created"] = info.created;
  json["fingerprint"] = info.fingerprint;
  json["options"] = options_to_object(info.options);
  json["updates"] = info.updates;
  json["keep_every_used"] = info.keep_every;
  json["watch_every_used"] = info.watch_every;
  json["ones"] = info.ones;
  json["ones_file"] = info.ones_file;
  json["ones_in_file"] = info.ones_in_file;
  json["total_count"] = info.total_count;
  json["missing_cells"] = info.missing_cells;
  json["test_ones"] = info.test_ones;
  json["test_zeros"] = info.test_zeros;
  json["training_zeros"] = info.training_zeros;
  json["zeros_used"] = info.zeros_used;
  json["modes"] = Json::array();
  for (const auto& mode : info.modes)
    json["modes"].push_back({{"name", mode.name},
                             {"size", mode.size},
                             {"numbered", mode.numbered},
                             {"first", mode.first},
                             {"dirichlet", mode.dirichlet},
                             {"missing_entities", mode.missing_entities}});
  json["networks"] = Json::array();
  for (const auto& network : info.networks)
    json["networks"].push_back({{"mode", info.modes[network.mode].name},
                                {"source", network.source},
                                {"edges", network.edges},
                                {"missing_pairs", network.missing_pairs}});
  return json;
}

Json status_part(const RunInfo& info) {
  Json json;
  json["status"] = info.status;
  json["sweeps"] = info.options.sweeps;
  json["draws_planned"] = info.draws_planned;
  json["draws"] = info.draws;
  json["peak_memory_bytes"] = info.peak_memory;
  json["auc_roc"] = number_or_null(info.auc_roc);
  json["chains"] = Json::array();
  for (const auto& chain : info.chains)
    json["chains"].push_back({{"sweeps", chain.sweeps},
                              {"seconds", chain.seconds},
                              {"log_likelihood", number_or_null(chain.log_likelihood)},
                              {"occupied", chain.occupied},
                              {"occupied_mean", number_or_null(chain.occupied_mean)},
                              {"network_only", chain.network_only}});
  json["learned"] = Json::object();
  for (const auto& [name, mean] : info.learned) json["learned"][name] = mean;
  json["rank_posterior"] = Json::array();
  for (const auto& [number, probability] : info.rank)
    json["rank_posterior"].push_back({{"occupied", number}, {"probability", probability}});
  return json;
}

constexpr std::uint64_t most_cells = std::uint64_t{1} << 62;
constexpr std::size_t most_networks = 1000;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::input, what);
}

RunInfo::ModeInfo read_mode(const Json& json) {
  RunInfo::ModeInfo mode;
  mode.name = text(json, "name");
  if (!usable_mode_name(mode.name)) refuse("a mode has a name that cannot be one");
  mode.size = whole<std::uint32_t>(json, "size", 1, max_mode_size);
  mode.numbered = boolean(json, "numbered");
  mode.first = whole<std::uint32_t>(json, "first", 0, std::numeric_limits<std::uint32_t>::max() - mode.size + 1);
  mode.dirichlet = real(json, "dirichlet");
  mode.missing_entities = whole<std::uint32_t>(json, "missing_entities", 0, mode.size);
  return mode;
}

void read_modes(const Json& json, RunInfo& info) {
  for (const Json& item : list(json, "modes")) {
    info.modes.push_back(read_mode(item));
    for (std::size_t k = 0; k + 1 < info.modes.size(); ++k)
      if (info.modes[k].name == info.modes.back().name) refuse("two modes have the same name");
    if (info.modes.size() > max_modes) refuse("too many modes");
  }
  if (info.modes.empty()) refuse("no modes");
}

void read_networks(const Json& json, RunInfo& info) {
  for (const Json& item : list(json, "networks")) {
    RunInfo::NetworkInfo network;
    const std::string mode = text(item, "mode");
    while (network.mode < info.modes.size() && info.modes[network.mode].name != mode) ++network.mode;
    if (network.mode == info.modes.size()) refuse("a network's mode is not among the modes");
    network.source = text(item, "source");
    network.edges = whole(item, "edges", std::uint64_t{0}, most_cells);
    network.missing_pairs = whole(item, "missing_pairs", std::uint64_t{0}, most_cells);
    info.networks.push_back(network);
    if (info.networks.size() > most_networks) refuse("too many networks");
  }
}

void read_options_part(const Json& json, RunInfo& info) {
  info.version = text(json, "ztp_version");
  info.command = text(json, "command");
  info.created = text(json, "created");
  info.fingerprint = text(json, "fingerprint");
  info.options = options_from_object(object(json, "options"));
  info.updates = whole<std::uint32_t>(json, "updates");
  info.keep_every = whole<std::uint32_t>(json, "keep_every_used", 1);
  info.watch_every = whole<std::uint32_t>(json, "watch_every_used", 1);
  const auto number = [&](const char* key) { return whole(json, key, std::uint64_t{0}, most_cells); };
  info.ones = number("ones");
  info.ones_file = text(json, "ones_file");
  info.ones_in_file = number("ones_in_file");
  info.total_count = number("total_count");
  info.missing_cells = number("missing_cells");
  info.test_ones = number("test_ones");
  info.test_zeros = number("test_zeros");
  info.training_zeros = json.contains("training_zeros") ? number("training_zeros") : 0;
  info.zeros_used = json.contains("zeros_used") ? real(json, "zeros_used") : 0;
  read_modes(json, info);
  read_networks(json, info);
}

RunInfo::ChainStatus read_chain(const Json& json) {
  RunInfo::ChainStatus chain;
  chain.sweeps = whole<std::uint32_t>(json, "sweeps");
  chain.seconds = real(json, "seconds");
  chain.log_likelihood = number_or_nan(json, "log_likelihood");
  chain.occupied = whole<std::size_t>(json, "occupied");
  chain.occupied_mean = number_or_nan(json, "occupied_mean");
  chain.network_only = whole<std::size_t>(json, "network_only");
  return chain;
}

void read_status_part(const Json& json, RunInfo& info) {
  info.status = text(json, "status");
  info.options.sweeps = whole<std::uint32_t>(json, "sweeps", static_cast<std::uint32_t>(info.options.sweeps));
  if (info.options.burn_in >= info.options.sweeps) refuse("burn-in is not below the sweeps, of which it is a part");
  info.draws_planned = whole(json, "draws_planned", std::uint64_t{0}, most_cells);
  info.draws = whole(json, "draws", std::uint64_t{0}, most_cells);
  info.peak_memory = whole<std::uint64_t>(json, "peak_memory_bytes");
  info.auc_roc = number_or_nan(json, "auc_roc");
  for (const Json& chain : list(json, "chains")) info.chains.push_back(read_chain(chain));
  if (info.chains.size() > static_cast<std::size_t>(info.options.chains)) refuse("more chains than options.json says");
  const Json& learned = object(json, "learned");
  for (const auto& item : learned.items()) info.learned.emplace_back(item.key(), real(learned, item.key().c_str()));
  for (const Json& item : list(json, "rank_posterior"))
    info.rank.emplace_back(whole<std::size_t>(item, "occupied"), real(item, "probability"));
}

// Reads one of the files; errors name it.
template <class Read>
void read_json_file(const std::string& path, RunInfo& info, const Read& read) {
  const std::string contents = read_text(path);
  try {
    read(parse_json(contents), info);
  } catch (const Error& error) {
    throw Error(ErrorKind::input,
                fmt::format("{}: damaged: {}; take it from a copy, or fit again", path, error.what()));
  }
}

}  // namespace

void write_run_options(const std::string& run_dir, const RunInfo& info) {
  write_text(run_dir + "/options.json", json_text(options_part(info)) + "\n");
}

void write_run_status(const std::string& run_dir, const RunInfo& info) {
  write_text(run_dir + "/status.json", json_text(status_part(info)) + "\n");
}

RunInfo run_info(const std::string& run_dir) {
  std::error_code no_access;
  if (!std::filesystem::exists(run_dir + "/options.json", no_access))
    throw Error(ErrorKind::input, fmt::format("{}: not a run directory (no options.json in it)", run_dir));
  check_manifest(run_dir, "options.json");
  RunInfo info;
  read_json_file(run_dir + "/options.json", info, read_options_part);
  read_json_file(run_dir + "/status.json", info, read_status_part);
  if (info.status == "running" && !RunLock::is_locked(run_dir)) info.status = "killed";
  return info;
}

std::string run_info_as_json(const RunInfo& info) {
  Json json = options_part(info);
  json.update(status_part(info));
  return json_text(json);
}

}  // namespace ztp
