#include "store/run_info.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "base/file.hpp"
#include "base/json.hpp"
#include "model/layout_options.hpp"
#include "options/options_json.hpp"
#include "store/manifest.hpp"
#include "store/run_dir.hpp"
#include "tensor/mode_name.hpp"
#include "ztp/error.hpp"
#include "ztp/labels.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t most_cells = std::uint64_t{1} << 62;
constexpr std::size_t most_networks = 1000;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::input, what);
}

// Writes the fields of an object. JsonReader has the same functions, so that each object has one list of fields.
struct JsonWriter {
  Json& json;
  template <class Value, class... Range>
  void field(const char* key, const Value& value, Range...) {
    json[key] = value;
  }
  void nullable(const char* key, double value) { json[key] = value; }  // NaN is written as null
  template <class Value, class... Range>
  void optional(const char* key, const Value& value, Range...) {
    json[key] = value;
  }
};

struct JsonReader {
  const Json& json;
  void field(const char* key, std::string& value) { value = text(json, key); }
  void field(const char* key, bool& value) { value = boolean(json, key); }
  void field(const char* key, double& value) { value = real(json, key); }
  template <class Value>
  void field(const char* key, Value& value, Value smallest = 0, Value largest = std::numeric_limits<Value>::max()) {
    value = whole<Value>(json, key, smallest, largest);
  }
  void nullable(const char* key, double& value) {
    value = member(json, key).is_null() ? std::numeric_limits<double>::quiet_NaN() : real(json, key);
  }
  // Runs of earlier versions may lack the field.
  template <class Value, class... Range>
  void optional(const char* key, Value& value, Range... range) {
    if (json.contains(key)) field(key, value, range...);
  }
};

// Each list of fields is for a JsonWriter and a const object, or a JsonReader and one to fill.
template <class Fields, class Info>
void list_data_fields(Fields f, Info& info) {
  f.field("updates", info.updates);
  f.optional("burn_in_given", info.burn_in_given);
  f.optional("keep_every_given", info.keep_every_given);
  f.optional("draws_given", info.draws_given);
  f.optional("keep_every_used", info.keep_every, 1u);
  f.optional("watch_every_used", info.watch_every, 1u);
  f.field("ones", info.ones, std::uint64_t{0}, most_cells);
  f.field("ones_file", info.ones_file);
  f.field("ones_in_file", info.ones_in_file, std::uint64_t{0}, most_cells);
  f.field("total_count", info.total_count, std::uint64_t{0}, most_cells);
  f.field("missing_cells", info.missing_cells, std::uint64_t{0}, most_cells);
  f.field("test_ones", info.test_ones, std::uint64_t{0}, most_cells);
  f.field("test_zeros", info.test_zeros, std::uint64_t{0}, most_cells);
  f.optional("training_zeros", info.training_zeros, std::uint64_t{0}, most_cells);
  f.optional("zeros_used", info.zeros_used);
}

template <class Fields, class Info>
void list_trial_fields(Fields f, Info& trial) {
  f.field("rank", trial.rank, 1u);
  f.field("sweeps", trial.sweeps);
  f.field("used", trial.used);
}

template <class Fields, class Info>
void list_mode_fields(Fields f, Info& mode) {
  f.field("name", mode.name);
  f.field("size", mode.size, 1u, max_mode_size);
  f.field("numbered", mode.numbered);
  f.field("first", mode.first, 0u, std::numeric_limits<std::uint32_t>::max() - mode.size + 1);
  f.field("dirichlet", mode.dirichlet);
  f.field("missing_slices", mode.missing_slices, 0u, mode.size);
}

template <class Fields, class Info>
void list_network_fields(Fields f, Info& network) {
  f.field("source", network.source);
  f.field("edges", network.edges, std::uint64_t{0}, most_cells);
  f.field("missing_pairs", network.missing_pairs, std::uint64_t{0}, most_cells);
}

template <class Fields, class Info>
void list_chain_fields(Fields f, Info& chain) {
  f.field("sweeps", chain.sweeps);
  f.field("seconds", chain.seconds);
  f.nullable("log_likelihood", chain.log_likelihood);
  f.field("occupied", chain.occupied);
  f.nullable("occupied_mean", chain.occupied_mean);
  f.field("network_only", chain.network_only);
}

template <class Fields, class Info>
void list_status_fields(Fields f, Info& info) {
  f.optional("keep_every_used", info.keep_every, 1u);
  f.optional("watch_every_used", info.watch_every, 1u);
  f.optional("seconds", info.seconds);
  f.optional("ended", info.ended);
  f.field("draws_planned", info.draws_planned, std::uint64_t{0}, most_cells);
  f.field("draws", info.draws, std::uint64_t{0}, most_cells);
  f.field("peak_memory_bytes", info.peak_memory);
  f.optional("processes", info.processes);
  f.optional("busiest_process", info.busiest);
  f.optional("bytes_exchanged_per_sweep", info.bytes_per_sweep);
  f.nullable("auc_roc", info.auc_roc);
}

Json rank_choice_part(const RankChoice& choice) {
  if (choice.trials.empty()) return nullptr;
  Json json = {{"stop", name_of(choice.stop)}, {"trials", Json::array()}};
  for (const RankTrial& trial : choice.trials) list_trial_fields(JsonWriter{json["trials"].emplace_back()}, trial);
  return json;
}

void read_rank_choice(const Json& json, RankChoice& choice) {
  const std::optional<RankStop> stop = choice_named<RankStop>(text(json, "stop"));
  if (!stop) refuse("the reason for the choice of the rank is unknown");
  choice.stop = *stop;
  for (const Json& item : list(json, "trials")) list_trial_fields(JsonReader{item}, choice.trials.emplace_back());
  if (choice.trials.empty()) refuse("the choice of the rank has no trial");
}

Json options_part(const RunInfo& info) {
  Json json = {{"ztp_version", info.version},     {"format", 1},
               {"command", info.command},         {"created", info.created},
               {"fingerprint", info.fingerprint}, {"options", options_to_object(info.options)}};
  json["rank_choice"] = rank_choice_part(info.rank_choice);
  list_data_fields(JsonWriter{json}, info);
  json["modes"] = Json::array();
  for (const auto& mode : info.modes) list_mode_fields(JsonWriter{json["modes"].emplace_back()}, mode);
  json["networks"] = Json::array();
  for (const auto& network : info.networks) {
    Json& item = json["networks"].emplace_back(Json{{"mode", info.modes[network.mode].name}});
    list_network_fields(JsonWriter{item}, network);
  }
  return json;
}

void read_options_part(const Json& json, RunInfo& info) {
  info.version = text(json, "ztp_version");
  info.command = text(json, "command");
  info.created = text(json, "created");
  info.fingerprint = text(json, "fingerprint");
  info.options = options_from_object(object(json, "options"));
  if (json.contains("rank_choice") && !json["rank_choice"].is_null())
    read_rank_choice(object(json, "rank_choice"), info.rank_choice);
  info.sweeps_asked = info.options.sweeps;
  list_data_fields(JsonReader{json}, info);
  for (const Json& item : list(json, "modes")) {
    RunInfo::ModeInfo& mode = info.modes.emplace_back();
    list_mode_fields(JsonReader{item}, mode);
    if (!usable_mode_name(mode.name)) refuse("a mode has an invalid name");
    for (std::size_t k = 0; k + 1 < info.modes.size(); ++k)
      if (info.modes[k].name == mode.name) refuse("two modes have the same name");
    if (info.modes.size() > max_modes) refuse("too many modes");
  }
  if (info.modes.empty()) refuse("no modes");
  for (const Json& item : list(json, "networks")) {
    RunInfo::NetworkInfo& network = info.networks.emplace_back();
    const std::string mode = text(item, "mode");
    while (network.mode < info.modes.size() && info.modes[network.mode].name != mode) ++network.mode;
    if (network.mode == info.modes.size()) refuse("a network's mode is not among the modes");
    list_network_fields(JsonReader{item}, network);
    if (info.networks.size() > most_networks) refuse("too many networks");
  }
  if (info.options.rank < 1) refuse("no rank");
  if (info.options.chains < 1) refuse("the number of chains is missing");
  std::vector<ModeSize> sizes;
  for (const RunInfo::ModeInfo& mode : info.modes) sizes.push_back({mode.name, mode.size});
  if (shares_columns(info.options)) layout_of(info.options, sizes);  // an error, if there is no such layout
}

Json status_part(const RunInfo& info) {
  Json json = {{"status", info.status}, {"sweeps", info.options.sweeps}};
  if (info.options.burn_in >= 0) json["burn_in"] = info.options.burn_in;
  list_status_fields(JsonWriter{json}, info);
  json["chains"] = Json::array();
  for (const auto& chain : info.chains) list_chain_fields(JsonWriter{json["chains"].emplace_back()}, chain);
  json["learned"] = Json::object();
  for (const auto& [name, mean] : info.learned) json["learned"][name] = mean;
  json["rank_posterior"] = Json::array();
  for (const auto& [number, probability] : info.rank)
    json["rank_posterior"].push_back({{"occupied", number}, {"probability", probability}});
  return json;
}

void read_status_part(const Json& json, RunInfo& info) {
  info.status = text(json, "status");
  // By now there may be more than at first, and until they have converged fewer: the first round is short.
  const bool rounds = info.options.until == Until::converged;
  info.options.sweeps =
      whole<std::uint32_t>(json, "sweeps", rounds ? 1 : static_cast<std::uint32_t>(info.options.sweeps));
  if (json.contains("burn_in")) info.options.burn_in = whole<std::uint32_t>(json, "burn_in");
  if (info.options.burn_in >= info.options.sweeps) refuse("burn-in is not less than the number of sweeps");
  list_status_fields(JsonReader{json}, info);
  if (info.keep_every < 1 || info.watch_every < 1) refuse("the interval of kept draws is missing");
  info.options.keep_every = info.keep_every;
  for (const Json& item : list(json, "chains")) list_chain_fields(JsonReader{item}, info.chains.emplace_back());
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
    throw_damaged(path, fmt::format("{}; take it from a copy, or fit again", error.what()));
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
