#include "store/run_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "ztp/error.hpp"
#include "ztp/fit.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

// An open-file-description lock: it also excludes two fits in one process, and works over NFS.
struct flock whole_file() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

[[noreturn]] void refuse_locked(const std::string& run_dir) {
  throw Error(ErrorKind::config, fmt::format("{}: another ztp is writing to this run directory", run_dir));
}

// The path without ".", "..", links and a trailing slash.
std::string resolved_path(const std::string& path) {
  std::error_code error;
  const fs::path plain = fs::weakly_canonical(fs::absolute(path), error);
  if (error) throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, error.message()));
  return (plain.has_filename() ? plain : plain.parent_path()).string();
}

// The beginning of the temporary names beside a run directory.
std::string partial_prefix(const std::string& run_dir) {
  const fs::path place(run_dir);
  return (place.parent_path() / fmt::format(".{}.ztp-partial-", place.filename().string())).string();
}

void rename_directory(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw_io("rename to", to);
}

// Removes temporary directories of killed processes. A run that one of them was about to replace is moved back.
void remove_abandoned(const std::string& run_dir) {
  const std::string prefix = partial_prefix(run_dir);
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(run_dir).parent_path(), error))
    if (const std::string path = entry.path().string(); path.starts_with(prefix) && !RunLock::is_locked(path))
      found.push_back(path);
  for (const std::string& path : found)
    if (path.ends_with(exchange_suffix) && !fs::exists(run_dir, error)) rename_directory(path, run_dir);
  for (const std::string& path : found) fs::remove_all(path, error);
}

void make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(ErrorKind::io, fmt::format("cannot create {}: {}", path, error.message()));
}

}  // namespace

RunLock::RunLock(const std::string& run_dir) {
  const std::string path = run_dir + "/lock";
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_io("write", path);
  struct flock lock = whole_file();
  const bool locked = ::fcntl(fd_, F_OFD_SETLK, &lock) == 0;
  const int reason = errno;
  struct stat mine = {}, there = {};
  // If the directory was replaced meanwhile, the lock is that of the old one.
  const bool same = ::fstat(fd_, &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino;
  if (locked && same) return;
  if (locked || reason == EAGAIN || reason == EACCES) refuse_locked(run_dir);
  errno = reason;
  throw_io("lock", path);
}

bool RunLock::is_locked(const std::string& run_dir) {
  const FileDescriptor fd = ::open((run_dir + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
  struct flock lock = whole_file();
  return fd >= 0 && ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void check_run_dir(const std::string& run_dir, bool replace) {
  std::error_code error;
  if (!fs::exists(run_dir, error)) return;
  if (RunLock::is_locked(run_dir)) refuse_locked(run_dir);
  if (!replace)
    throw Error(ErrorKind::config, fmt::format("{} exists; choose another --out, or --force to replace it", run_dir));
  if (!fs::is_directory(run_dir, error) ||
      (!fs::is_empty(run_dir, error) && !fs::exists(run_dir + "/options.json", error)))
    throw Error(ErrorKind::config, fmt::format("{} is not a run directory, so it is not replaced", run_dir));
  // A process, such as the shell, whose working directory it is would be left in a directory that is gone.
  if ((fs::current_path() / "").string().starts_with(fs::canonical(run_dir).string() + "/"))
    throw Error(
        ErrorKind::config,
        fmt::format("{} would be replaced, but it is the current directory; change to another directory, or use --out",
                    run_dir));
}

NewRunDir::NewRunDir(const std::string& run_dir, bool replace)
    : run_dir_(resolved_path(run_dir)), path_(fmt::format("{}{}", partial_prefix(run_dir_), ::getpid())) {
  remove_abandoned(run_dir_);
  check_run_dir(run_dir, replace);
  make_directories(fs::path(run_dir_).parent_path().string());
  std::error_code error;
  replaces_ = replace && fs::exists(run_dir_, error);
  if (replaces_) old_lock_ = std::make_unique<RunLock>(run_dir_);
  make_directories(path_);
  lock_ = std::make_unique<RunLock>(path_);
}

NewRunDir::~NewRunDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void NewRunDir::publish() {
  sync_directory(path_);
  if (replaces_) {
    const std::optional<std::string> old = exchange_folders(path_, run_dir_);
    if (!old) throw_io("finish", run_dir_);
    path_ = *old;
  } else {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, run_dir_.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST)
        throw Error(ErrorKind::config, fmt::format("{} was created by something else in the meantime", run_dir_));
      if (errno != EINVAL && errno != ENOSYS) throw_io("finish", run_dir_);
      rename_directory(path_, run_dir_);  // a file system that cannot do that
    }
    path_.clear();
  }
  sync_directory(fs::path(run_dir_).parent_path().string());
  std::error_code ignored;  // leftovers of the old run do no harm, and are removed next time
  if (!path_.empty()) fs::remove_all(path_, ignored);
  path_.clear();
}

void remove_partial_files(const std::string& run_dir) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_dir, error))
    if (entry.path().filename().string().find(".partial") != std::string::npos) found.push_back(entry.path());
  for (const fs::path& path : found) fs::remove(path, error);
}

}  // namespace ztp
