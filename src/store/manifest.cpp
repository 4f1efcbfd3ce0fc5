#include "store/manifest.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

struct ManifestEntry {
  std::uint64_t bytes = 0;
  std::string xxh3;  // 16 hex digits
  bool operator==(const ManifestEntry&) const = default;
};

std::string manifest_path(const std::string& run_dir) {
  return run_dir + "/manifest.json";
}

bool has_manifest(const std::string& run_dir) {
  std::error_code no_access;
  return std::filesystem::exists(manifest_path(run_dir), no_access);
}

ManifestEntry manifest_entry(const std::string& path) {
  const ReadFile file(path);
  Hash hash;
  hash.add(file, 0, file.length());
  return {file.length(), fmt::format("{:016x}", hash.sum())};
}

std::map<std::string, ManifestEntry> read_manifest(const std::string& run_dir) {
  const std::string path = manifest_path(run_dir);
  if (!has_manifest(run_dir))
    throw Error(ErrorKind::input, fmt::format("{} is not there: the run is damaged or was made by an earlier ztp; fit "
                                              "again",
                                              path));
  const std::string contents = read_text(path);
  std::map<std::string, ManifestEntry> entries;
  try {
    const Json json = parse_json(contents);
    whole<std::uint64_t>(json, "format", 1, 1);
    for (const auto& [file, entry] : object(json, "files").items())
      entries[file] = {whole<std::uint64_t>(entry, "bytes"), text(entry, "xxh3")};
  } catch (const Error& error) {
    throw Error(ErrorKind::input,
                fmt::format("{}: damaged: {}; take it from a copy, or fit again", path, error.what()));
  }
  return entries;
}

}  // namespace

void add_to_manifest(const std::string& run_dir, const std::vector<std::string>& files) {
  std::map<std::string, ManifestEntry> entries;
  if (has_manifest(run_dir)) entries = read_manifest(run_dir);
  for (const std::string& file : files) entries[file] = manifest_entry(run_dir + "/" + file);
  Json json = {{"format", 1}, {"files", Json::object()}};
  for (const auto& [file, entry] : entries) json["files"][file] = {{"bytes", entry.bytes}, {"xxh3", entry.xxh3}};
  write_text(manifest_path(run_dir), json_text(json) + "\n");
}

void check_manifest(const std::string& run_dir, const std::string& file, const std::string& remedy) {
  const std::map<std::string, ManifestEntry> entries = read_manifest(run_dir);
  const auto listed = entries.find(file);
  const std::string path = run_dir + "/" + file;
  if (listed == entries.end() || manifest_entry(path) != listed->second)
    throw Error(ErrorKind::input, fmt::format("{}: damaged or changed: it is not the file that {} lists{}{}", path,
                                              manifest_path(run_dir), remedy.empty() ? "" : "; ", remedy));
}

}  // namespace ztp
