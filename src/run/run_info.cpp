#include "run/run_info.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "run/manifest.hpp"
#include "run/run_dir.hpp"
#include "ztp/error.hpp"
#include "ztp/labels.hpp"
#include "ztp/options.hpp"

namespace ztp {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(double value) {
  return std::isnan(value) ? Json(nullptr) : Json(value);
}

double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Json options_part(const RunInfo& info) {
  Json json;
  json["ztp_version"] = info.version;
  json["format"] = 1;
  json["command"] = info.command;
  json["created"] = info.created;
  json["fingerprint"] = info.fingerprint;
  json["options"] = Json::parse(options_to_json(info.options));
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

void read_options_part(const Json& json, RunInfo& info) {
  info.version = json.at("ztp_version");
  info.command = json.at("command");
  info.created = json.at("created");
  info.fingerprint = json.at("fingerprint");
  info.options =
      options_from_json(json.at("options").dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  info.updates = json.at("updates");
  info.keep_every = json.at("keep_every_used");
  info.watch_every = json.at("watch_every_used");
  info.ones = json.at("ones");
  info.ones_file = json.at("ones_file");
  info.ones_in_file = json.at("ones_in_file");
  info.total_count = json.at("total_count");
  info.missing_cells = json.at("missing_cells");
  info.test_ones = json.at("test_ones");
  info.test_zeros = json.at("test_zeros");
  info.training_zeros = json.value("training_zeros", std::uint64_t{0});
  info.zeros_used = json.value("zeros_used", 0.0);
  for (const Json& mode : json.at("modes"))
    info.modes.push_back({mode.at("name"), mode.at("size"), mode.at("numbered"), mode.at("first"), mode.at("dirichlet"),
                          mode.at("missing_entities")});
  for (const Json& network : json.at("networks")) {
    RunInfo::NetworkInfo item{0, network.at("source"), network.at("edges"), network.at("missing_pairs")};
    while (item.mode < info.modes.size() && info.modes[item.mode].name != network.at("mode")) ++item.mode;
    if (item.mode == info.modes.size()) throw std::out_of_range("a network's mode is not among the modes");
    info.networks.push_back(item);
  }
}

// The options apart, nothing in these files is less than zero, and unsigned members would take it for a huge number.
void refuse_negative(const Json& json) {
  for (const auto& [name, value] : json.items()) {
    if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0)
      throw std::out_of_range(fmt::format("\"{}\" is negative", name));
    if (value.is_structured() && name != "options") refuse_negative(value);
  }
}

// What everything else counts on, before anything is allocated for it.
void check_sizes(const RunInfo& info) {
  check_ranges(info.options);
  if (info.modes.size() < 2 || info.modes.size() > max_modes)
    throw std::out_of_range(fmt::format("{} modes instead of 2 to {}", info.modes.size(), max_modes));
  for (const auto& mode : info.modes)
    if (mode.size == 0 || mode.size > max_mode_size)
      throw std::out_of_range(fmt::format("mode {} has an impossible size", mode.name));
}

void read_status_part(const Json& json, RunInfo& info) {
  info.status = json.at("status");
  info.options.sweeps = json.at("sweeps");
  info.draws_planned = json.at("draws_planned");
  info.draws = json.at("draws");
  info.peak_memory = json.at("peak_memory_bytes");
  info.auc_roc = number_or_nan(json.at("auc_roc"));
  for (const Json& chain : json.at("chains"))
    info.chains.push_back({chain.at("sweeps"), chain.at("seconds"), number_or_nan(chain.at("log_likelihood")),
                           chain.at("occupied"), number_or_nan(chain.at("occupied_mean")), chain.at("network_only")});
  for (const auto& [name, mean] : json.at("learned").items()) info.learned.emplace_back(name, mean.get<double>());
  for (const Json& item : json.at("rank_posterior"))
    info.rank.emplace_back(item.at("occupied"), item.at("probability"));
}

}  // namespace

void write_run_options(const std::string& run_dir, const RunInfo& info) {
  write_text(run_dir + "/options.json",
             options_part(info).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void write_run_status(const std::string& run_dir, const RunInfo& info) {
  write_text(run_dir + "/status.json",
             status_part(info).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

RunInfo run_info(const std::string& run_dir) {
  std::error_code no_access;
  if (!std::filesystem::exists(run_dir + "/options.json", no_access))
    throw Error(ErrorKind::input, fmt::format("{}: not a run directory (no options.json in it)", run_dir));
  check_manifest(run_dir, "options.json");
  RunInfo info;
  std::string file = run_dir + "/options.json";
  try {
    Json json = Json::parse(read_text(file));
    refuse_negative(json);
    read_options_part(json, info);
    check_sizes(info);
    file = run_dir + "/status.json";
    json = Json::parse(read_text(file));
    refuse_negative(json);
    read_status_part(json, info);
  } catch (const std::exception& error) {
    const Error* known = dynamic_cast<const Error*>(&error);
    if (known != nullptr && known->kind() != ErrorKind::config) throw;
    std::string what = error.what();
    if (what.starts_with("[json.exception.")) what.erase(0, what.find("] ") + 2);
    throw Error(ErrorKind::input, fmt::format("{}: damaged: {}; take it from a copy, or fit again", file, what));
  }
  if (info.status == "running" && !RunLock::is_taken(run_dir)) info.status = "killed";
  return info;
}

std::string run_info_as_json(const RunInfo& info) {
  Json json = options_part(info);
  json.update(status_part(info));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ztp
