#include "fetch/folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::config, fmt::format("{}: {}", path, why));
}

// The files that the record of a folder names; an error if there is no record.
std::vector<std::string> recorded_files(const std::string& path) {
  const std::string file = path + "/" + folder_record;
  std::error_code failure;
  if (fs::is_regular_file(file, failure)) {
    const auto record = nlohmann::json::parse(read_text(file), nullptr, false);
    if (record.is_object() && record.value("made_by", nlohmann::json()) == folder_maker && record.contains("files") &&
        record["files"].is_array()) {
      std::vector<std::string> names = {folder_record};
      for (const auto& name : record["files"])
        if (name.is_string()) names.push_back(name.get<std::string>());
      return names;
    }
  }
  refuse(path,
         fmt::format("exists, and '{}' did not make it: it is not replaced; choose another with --out", folder_maker));
}

void check_replaceable(const std::string& path) {
  const std::vector<std::string> own = recorded_files(path);
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || std::find(own.begin(), own.end(), name) == own.end())
      refuse(path, fmt::format("is not replaced, because {} in it would be lost; move that away", name));
  }
}

}  // namespace

DataFolder::DataFolder(const std::string& path, bool force) try {
  if (path.empty()) refuse("--out", "names no folder");
  fs::path whole = fs::weakly_canonical(fs::absolute(path));  // a link to the folder is the folder
  if (!whole.has_filename()) whole = whole.parent_path();
  path_ = whole.string();
  if (!fs::exists(whole)) return;
  if (!fs::is_directory(whole)) refuse(path, "exists and is not a folder; choose another with --out");
  if (fs::is_empty(whole)) return;
  if (!force) refuse(path, "exists; --force replaces it, if a fetch made it, or choose another with --out");
  check_replaceable(path_);
  replaces_ = true;
} catch (const fs::filesystem_error& error) {
  throw Error(ErrorKind::io, fmt::format("{}: {}", path, error.code().message()));
}

DataFolder::~DataFolder() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(partial_, ignored);
}

void DataFolder::write(const std::vector<std::pair<std::string, std::string>>& files) try {
  const fs::path parent = fs::path(path_).parent_path();
  fs::create_directories(parent);
  const std::string beside = fmt::format("{}.partial-{}", path_, getpid());
  fs::create_directory(beside);
  partial_ = beside;
  for (const auto& [name, bytes] : files) write_text(partial_ + "/" + name, bytes);
  take_name();
  sync_directory(parent.string());
} catch (const fs::filesystem_error& error) {
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path_, error.code().message()));
}

void DataFolder::take_name() {
  if (!replaces_) {
    // Over an empty folder this works; over one that has got contents meanwhile it fails.
    if (::rename(partial_.c_str(), path_.c_str()) != 0) throw_io("rename to", path_);
    partial_.clear();
    return;
  }
  check_replaceable(path_);  // again: something may have been put into it meanwhile
  const std::optional<std::string> old = exchange_folders(partial_, path_);
  if (!old) throw_io("write", path_);
  partial_ = *old;  // from here on what is to be removed is the old folder
}

}  // namespace ztp
