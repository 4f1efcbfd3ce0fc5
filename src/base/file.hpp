// Checked file access. Every failure is an Error of kind io that names the path and the reason.
#pragma once
#include <cstdint>
#include <optional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ztp/buffer.hpp"

namespace ztp {

[[noreturn]] void throw_io(const std::string& action, const std::string& path);     // with the text of errno
[[noreturn]] void throw_damaged(const std::string& path, const std::string& what);  // of kind input

// Owns the number of an open file, or has a negative one. Closing it in the destructor leaves errno as it is.
class FileDescriptor {
 public:
  FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();
  operator int() const { return number_; }
  bool close();  // false, if the system reports an error

 private:
  int number_;
};

// Writes to a temporary file, which gets its final name in commit(), after the data are on disk: a crash leaves either
// the old file or the new one. Without commit() the temporary file is removed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  // For inner loops: a buffer of at least `bytes` bytes (at most 64 KiB) to fill; then advance() to the end of it.
  char* room(std::size_t bytes) {
    if (capacity - used_ < bytes) flush();
    return buffer_.data() + used_;
  }
  void advance(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }
  std::uint64_t bytes() const { return written_ + used_; }
  // Overwrites bytes at `offset`: a header that is known only at the end.
  void rewrite(std::uint64_t offset, const void* data, std::size_t bytes);
  void commit();

 private:
  void flush();
  void write_through(const char* data, std::size_t bytes);

  static constexpr std::size_t capacity = 1 << 20;
  std::string path_;
  std::string temporary_;
  FileDescriptor fd_;
  Buffer<char> buffer_;
  std::size_t used_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t started_ = 0;  // bytes that the system was asked to write to disk
};

// The same for a file written by a library: syncs `partial` to disk and renames it to `path`.
void publish_file(const std::string& partial, const std::string& path);

// A file that only grows: the draws and the trace of a running fit.
class AppendFile {
 public:
  // Opens or creates, and cuts the file to `length` bytes first.
  AppendFile(std::string path, std::uint64_t length);

  void append(const void* data, std::size_t bytes);
  void append(std::string_view text) { append(text.data(), text.size()); }
  // Beyond the end as well, which is then a gap until it is written. Safe from several threads, if none appends.
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) const;
  void sync();                                      // to the disk
  std::uint64_t length() const { return length_; }  // as it was opened, and what was appended
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor fd_;
  std::uint64_t length_ = 0;
};

// Random access for reading.
class ReadFile {
 public:
  explicit ReadFile(std::string path);

  void read(std::uint64_t offset, void* data, std::size_t bytes) const;  // all of it, or an error
  // These bytes as memory that the system can take back, and reads again when they are asked for. What is written to it
  // stays in this process.
  std::shared_ptr<void> map(std::uint64_t offset, std::size_t bytes) const;
  std::uint64_t length() const { return length_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor fd_;
  std::uint64_t length_ = 0;
};

// A part of a file, in bytes.
struct Extent {
  std::uint64_t begin = 0, end = 0;
};
// Appends a part to the list; one that begins where the last ends is merged with it.
void add_extent(std::vector<Extent>& extents, const Extent& more);
// Leaves these parts of a file, in this order, and nothing else: a crash leaves the old file or the new one. If they
// are its beginning, it is cut in place.
void keep_extents(const std::string& path, const std::vector<Extent>& extents);

// A temporary file for data that do not fit into memory. It has no name, so nothing is left behind however the program
// ends. Reading is safe from several threads.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& directory);

  void append(const void* data, std::size_t bytes);
  void read(std::uint64_t offset, void* data, std::size_t bytes) const;
  void forget(std::uint64_t offset, std::uint64_t bytes);  // frees the disk space, where the file system can
  // All of it, at least a byte, as memory that the system can write to disk and take back. It outlives this object.
  // What has no room on the disk is an error here at the latest.
  std::shared_ptr<void> map() const;

 private:
  std::string path_;  // for messages
  FileDescriptor fd_;
};

// Reserves so many bytes for a file that is there and has less. Error, if the disk has no room for them, or a quota
// forbids it; the file is removed then. Called before a library writes the file, whose errors would tell less.
void reserve_disk_space(const std::string& path, std::uint64_t bytes);

std::string read_text(const std::string& path);
void write_text(const std::string& path, std::string_view text);  // atomically
void sync_directory(const std::string& path);

// Gives the folder `made` the name `name` in one step, and returns the name that the old folder has now. On a file
// system that cannot exchange names, `name` does not exist for a moment, and the old folder gets the name of `made`
// with exchange_suffix. Nothing if that fails: errno tells why.
inline constexpr const char* exchange_suffix = "-old";
std::optional<std::string> exchange_folders(const std::string& made, const std::string& name);

}  // namespace ztp
