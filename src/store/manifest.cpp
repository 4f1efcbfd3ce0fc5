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

std::string manifest_path(const std::string& run_dir) {
  return run_dir + "/manifest.json";
}

bool has_manifest(const std::string& run_dir) {
  std::error_code no_access;
  return std::filesystem::exists(manifest_path(run_dir), no_access);
}

Json manifest_entry(const std::string& path) {
  const ReadFile file(path);
  Hash hash;
  hash.add(file, 0, file.length());
  return {{"bytes", file.length()}, {"xxh3", fmt::format("{:016x}", hash.sum())}};
}

// The entry of each file.
std::map<std::string, Json> read_manifest(const std::string& run_dir) {
  const std::string path = manifest_path(run_dir);
  if (!has_manifest(run_dir))
    throw Error(ErrorKind::input, fmt::format("{} is not there: the run is damaged or was made by an earlier ztp; fit "
                                              "again",
                                              path));
  const std::string contents = read_text(path);
  try {
    const Json json = parse_json(contents);
    whole<std::uint64_t>(json, "format", 1, 1);
    return object(json, "files").get<std::map<std::string, Json>>();
  } catch (const Error& error) {
    throw_damaged(path, fmt::format("{}; take it from a copy, or fit again", error.what()));
  }
}

}  // namespace

void add_to_manifest(const std::string& run_dir, const std::vector<std::string>& files) {
  std::map<std::string, Json> entries;
  if (has_manifest(run_dir)) entries = read_manifest(run_dir);
  for (const std::string& file : files) entries[file] = manifest_entry(run_dir + "/" + file);
  const Json json = {{"format", 1}, {"files", entries}};
  write_text(manifest_path(run_dir), json_text(json) + "\n");
}

void check_manifest(const std::string& run_dir, const std::string& file, const std::string& remedy) {
  const std::map<std::string, Json> entries = read_manifest(run_dir);
  const auto listed = entries.find(file);
  const std::string path = run_dir + "/" + file;
  if (listed == entries.end() || manifest_entry(path) != listed->second)
    throw Error(ErrorKind::input, fmt::format("{}: damaged or changed: it is not the file that {} lists{}{}", path,
                                              manifest_path(run_dir), remedy.empty() ? "" : "; ", remedy));
}

}  // namespace ztp
