#include "store/manifest.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/pool.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t format = 2;  // 1 has no files in pieces
constexpr std::uint64_t bytes_of_piece = 4 << 20;

std::string manifest_path(const std::string& run_dir) {
  return run_dir + "/manifest.json";
}

bool has_manifest(const std::string& run_dir) {
  std::error_code no_access;
  return std::filesystem::exists(manifest_path(run_dir), no_access);
}

// Of the checksums of the pieces of a file, which several threads compute.
std::uint64_t hash_of_pieces(const ReadFile& file, unsigned threads) {
  const Blocks pieces{file.length(), bytes_of_piece};
  std::vector<std::uint64_t> sums(pieces.count());
  Pool pool(threads);
  pool.for_blocks(pieces.count(), [&](std::size_t p) {
    Hash hash;
    hash.add(file, pieces.begin(p), pieces.end(p) - pieces.begin(p));
    sums[p] = hash.sum();
  });
  return hash_of(sums.data(), sums.size() * sizeof sums[0]);
}

// An earlier ztp hashed files of any length as a whole.
Json manifest_entry(const std::string& path, unsigned threads, bool in_pieces = true) {
  const ReadFile file(path);
  if (in_pieces && file.length() > bytes_of_piece)
    return {{"bytes", file.length()}, {"xxh3_of_pieces", fmt::format("{:016x}", hash_of_pieces(file, threads))}};
  Hash hash;
  hash.add(file, 0, file.length());
  return {{"bytes", file.length()}, {"xxh3", fmt::format("{:016x}", hash.sum())}};
}

// The entry of each file.
std::map<std::string, Json> read_manifest(const std::string& run_dir) {
  const std::string path = manifest_path(run_dir);
  if (!has_manifest(run_dir))
    throw Error(
        ErrorKind::input,
        fmt::format("{} does not exist: the run is damaged, or was made by an earlier version of ztp; fit again",
                    path));
  const std::string contents = read_text(path);
  try {
    const Json json = parse_json(contents);
    whole<std::uint64_t>(json, "format", 1, format);
    return object(json, "files").get<std::map<std::string, Json>>();
  } catch (const Error& error) {
    throw_damaged(path, fmt::format("{}; take it from a copy, or fit again", error.what()));
  }
}

}  // namespace

void add_to_manifest(const std::string& run_dir, const std::vector<std::string>& files, unsigned threads) {
  std::map<std::string, Json> entries;
  if (has_manifest(run_dir)) entries = read_manifest(run_dir);
  for (const std::string& file : files) entries[file] = manifest_entry(run_dir + "/" + file, threads);
  const Json json = {{"format", format}, {"files", entries}};
  write_text(manifest_path(run_dir), json_text(json) + "\n");
}

void check_manifest(const std::string& run_dir, const std::string& file, const std::string& remedy, unsigned threads) {
  const std::map<std::string, Json> entries = read_manifest(run_dir);
  const auto listed = entries.find(file);
  const std::string path = run_dir + "/" + file;
  if (listed == entries.end() || manifest_entry(path, threads, !listed->second.contains("xxh3")) != listed->second)
    throw Error(ErrorKind::input, fmt::format("{}: damaged or changed: it is not the file that {} lists{}{}", path,
                                              manifest_path(run_dir), remedy.empty() ? "" : "; ", remedy));
}

}  // namespace ztp
