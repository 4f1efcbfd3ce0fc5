#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/errors.hpp"

namespace ztp {
namespace {

void write_all(int fd, const char* data, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t written = ::write(fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_io("write", path);
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void write_all_at(int fd, std::uint64_t offset, const char* data, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t written = ::pwrite(fd, data, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_io("write", path);
    data += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
}

void read_all(int fd, std::uint64_t offset, char* place, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, place, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_io("read", path);
    if (got == 0) throw input_error("{}: ends too early", path);
    place += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

bool sync_fully(int fd) {
  int result = 0;
  do result = ::fsync(fd);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

// Syncs `temporary` to disk, closes it and renames it to `path`; removes it if that fails.
void publish(FileDescriptor fd, const std::string& temporary, const std::string& path) {
  const bool synced = sync_fully(fd);
  int reason = errno;
  const bool closed = fd.close();
  if (synced && closed && ::rename(temporary.c_str(), path.c_str()) == 0)
    return sync_directory(std::filesystem::path(path).parent_path().string());
  if (synced) reason = errno;
  ::unlink(temporary.c_str());
  errno = reason;
  throw_io(synced ? "finish" : "write", path);
}

std::uint64_t file_length(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) != 0) throw_io("examine", path);
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

void throw_io(const std::string& action, const std::string& path) {
  throw io_error("cannot {} {}: {}", action, path, std::strerror(errno));
}

void throw_damaged(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}: damaged: {}", path, what));
}

FileDescriptor::~FileDescriptor() {
  const int reason = errno;
  if (number_ >= 0) ::close(number_);
  errno = reason;
}

bool FileDescriptor::close() {
  return ::close(std::exchange(number_, -1)) == 0;
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.partial-{}", path_, ::getpid())), buffer_(capacity) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_io("write", path_);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  if (bytes > capacity - used_) flush();
  if (bytes > capacity) return write_through(static_cast<const char*>(data), bytes);
  std::memcpy(buffer_.data() + used_, data, bytes);
  used_ += bytes;
}

void AtomicFile::flush() {
  write_through(buffer_.data(), used_);
  used_ = 0;
}

void AtomicFile::write_through(const char* data, std::size_t bytes) {
  write_all(fd_, data, bytes, path_);
  written_ += bytes;
  // Starts writing to disk now, so that the fsync in commit() has less to wait for. Only a hint.
  constexpr std::uint64_t stretch = 8 << 20;
  if (written_ - started_ < stretch) return;
  ::sync_file_range(fd_, static_cast<off_t>(started_), static_cast<off_t>(written_ - started_), SYNC_FILE_RANGE_WRITE);
  started_ = written_;
}

void AtomicFile::rewrite(std::uint64_t offset, const void* data, std::size_t bytes) {
  flush();
  if (::lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) throw_io("seek in", path_);
  write_all(fd_, static_cast<const char*>(data), bytes, path_);
  if (::lseek(fd_, 0, SEEK_END) < 0) throw_io("seek in", path_);
}

void AtomicFile::commit() {
  flush();
  publish(std::move(fd_), temporary_, path_);
}

void publish_file(const std::string& partial, const std::string& path) {
  FileDescriptor fd = ::open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io("open", partial);
  publish(std::move(fd), partial, path);
}

AppendFile::AppendFile(std::string path, std::uint64_t length)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)), length_(length) {
  if (fd_ < 0) throw_io("open", path_);
  if (file_length(fd_, path_) < length)
    throw input_error("{}: shorter than the checkpoint expects; the run cannot be resumed", path_);
  if (::ftruncate(fd_, static_cast<off_t>(length)) != 0) throw_io("truncate", path_);
  if (::lseek(fd_, 0, SEEK_END) < 0) throw_io("seek in", path_);
}

void AppendFile::append(const void* data, std::size_t bytes) {
  write_all(fd_, static_cast<const char*>(data), bytes, path_);
  length_ += bytes;
}

void AppendFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) const {
  write_all_at(fd_, offset, static_cast<const char*>(data), bytes, path_);
}

void AppendFile::sync() {
  if (!sync_fully(fd_)) throw_io("write", path_);
}

ReadFile::ReadFile(std::string path) : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw_io("open", path_);
  length_ = file_length(fd_, path_);
}

void ReadFile::read(std::uint64_t offset, void* data, std::size_t bytes) const {
  read_all(fd_, offset, static_cast<char*>(data), bytes, path_);
}

std::shared_ptr<void> ReadFile::map(std::uint64_t offset, std::size_t bytes) const {
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), begin = offset / page * page;
  const std::size_t length = offset - begin + bytes;
  void* const mapped =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_, static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) throw_io("map", path_);
  const std::shared_ptr<void> whole(mapped, [length](void* memory) { munmap(memory, length); });
  return {whole, static_cast<char*>(mapped) + (offset - begin)};
}

void add_extent(std::vector<Extent>& extents, const Extent& more) {
  if (more.begin == more.end) return;
  if (!extents.empty() && extents.back().end == more.begin)
    extents.back().end = more.end;
  else
    extents.push_back(more);
}

void keep_extents(const std::string& path, const std::vector<Extent>& extents) {
  const bool beginning = extents.empty() || (extents.size() == 1 && extents[0].begin == 0);
  if (beginning) {
    const AppendFile cut(path, extents.empty() ? 0 : extents[0].end);
    return;
  }
  const ReadFile from(path);
  AtomicFile to(path);
  std::vector<char> piece;
  for (const Extent& extent : extents)
    for (std::uint64_t at = extent.begin; at < extent.end; at += piece.size()) {
      piece.resize(std::min<std::uint64_t>(1 << 20, extent.end - at));
      from.read(at, piece.data(), piece.size());
      to.write(piece.data(), piece.size());
    }
  to.commit();
}

ScratchFile::ScratchFile(const std::string& directory)
    : path_(directory.empty() ? "." : directory), fd_(::open(path_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  // Not every file system knows O_TMPFILE.
  if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string name = path_ + "/.ztp-scratch-XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) ::unlink(name.c_str());
  }
  if (fd_ < 0) throw_io("write a temporary file in", path_);
}

void ScratchFile::append(const void* data, std::size_t bytes) {
  write_all(fd_, static_cast<const char*>(data), bytes, "a temporary file in " + path_);
}

void ScratchFile::read(std::uint64_t offset, void* data, std::size_t bytes) const {
  read_all(fd_, offset, static_cast<char*>(data), bytes, "a temporary file in " + path_);
}

void ScratchFile::forget(std::uint64_t offset, std::uint64_t bytes) {
  ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

std::shared_ptr<void> ScratchFile::map() const {
  const std::string name = "a temporary file in " + path_;
  if (!sync_fully(fd_)) throw_io("write", name);  // some file systems tell of a full disk only now
  const std::size_t bytes = file_length(fd_, name);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (mapped == MAP_FAILED) throw_io("map", name);
  return {mapped, [bytes](void* memory) { munmap(memory, bytes); }};
}

void reserve_disk_space(const std::string& path, std::uint64_t bytes) {
  const FileDescriptor fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) throw_io("write", path);
  int result = 0;
  do result = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  while (result != 0 && errno == EINTR);
  // Not every file system can tell beforehand.
  if (result == 0 || errno == EOPNOTSUPP) return;
  const int reason = errno;
  ::unlink(path.c_str());
  errno = reason;
  throw_io("write", path);
}

std::string read_text(const std::string& path) {
  const FileDescriptor fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io("open", path);
  std::string text;
  char buffer[1 << 16];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  if (got < 0) throw_io("read", path);
  return text;
}

void write_text(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void sync_directory(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  const FileDescriptor fd = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_io("open", name);
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EINTR) throw_io("write", name);  // not every file system can
}

std::optional<std::string> exchange_folders(const std::string& made, const std::string& name) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, name.c_str(), RENAME_EXCHANGE) == 0) return made;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return std::nullopt;
  const std::string old = made + exchange_suffix;
  if (std::rename(name.c_str(), old.c_str()) != 0) return std::nullopt;
  if (std::rename(made.c_str(), name.c_str()) == 0) return old;
  const int reason = errno;
  std::rename(old.c_str(), name.c_str());  // as it was
  errno = reason;
  return std::nullopt;
}

}  // namespace ztp
