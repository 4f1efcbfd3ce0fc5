// Locking a run directory, and creating one atomically.
#pragma once
#include <memory>
#include <string>

#include "base/file.hpp"

namespace ztp {

// An exclusive lock on a run directory for writing. The system releases it when the process ends, however it ends.
class RunLock {
 public:
  explicit RunLock(const std::string& run_dir);  // Error (config), if it is locked

  static bool is_locked(const std::string& run_dir);

 private:
  FileDescriptor fd_;
};

// A run directory that is built under a temporary name beside its final one, .RUN.ztp-partial-PID, and renamed when it
// is complete. If it is never published it is removed, and an existing run stays as it was.
class NewRunDir {
 public:
  // Error (config), if something exists that may not be replaced. Removes leftovers of killed processes.
  NewRunDir(const std::string& run_dir, bool replace);
  ~NewRunDir();
  NewRunDir(const NewRunDir&) = delete;
  NewRunDir& operator=(const NewRunDir&) = delete;

  const std::string& path() const { return path_; }  // where to write
  void publish();                                    // gives it its final name

 private:
  std::string run_dir_, path_;
  bool replaces_ = false;
  std::unique_ptr<RunLock> lock_, old_lock_;
};

// Removes incomplete files of a killed process. The caller holds the lock.
void remove_partial_files(const std::string& run_dir);

}  // namespace ztp
