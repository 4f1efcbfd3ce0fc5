// The run directory as a place: who may write in it, and how a new one takes its name.
#pragma once
#include <memory>
#include <string>

namespace ztp {

// The right to write in a run directory, for as long as this lives. The system takes it back when the process ends, however it ends.
class RunLock {
 public:
  explicit RunLock(const std::string& run_dir);  // Error (config), if a process has it
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  static bool is_taken(const std::string& run_dir);

 private:
  int fd_ = -1;
};

// A run directory that is built beside its place, .RUN.ztp-partial-PID, and takes it when it is whole, or goes. Until then a run that is
// there and to be replaced stays as it was.
class NewRunDir {
 public:
  // Error (config), if there is something that may not be replaced. Removes what processes that were killed have left.
  NewRunDir(const std::string& run_dir, bool replace);
  ~NewRunDir();
  NewRunDir(const NewRunDir&) = delete;
  NewRunDir& operator=(const NewRunDir&) = delete;

  const std::string& path() const { return path_; }  // where to write
  void publish();                                    // from now on that is run_dir

 private:
  std::string run_dir_, path_;
  bool replaces_ = false;
  std::unique_ptr<RunLock> lock_, old_lock_;
};

// Removes files that a killed process had begun to write. For whoever has the lock.
void remove_partial_files(const std::string& run_dir);

}  // namespace ztp
