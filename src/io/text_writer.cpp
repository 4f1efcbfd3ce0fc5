#include "io/text_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ztp/error.hpp"

namespace ztp {
namespace {

// All numbers below 10,000 in four characters: with leading zeros, and flush left.
struct Digits {
  std::array<std::array<char, 4>, 10000> padded{};
  std::array<std::array<char, 4>, 10000> left{};
  constexpr Digits() {
    for (unsigned i = 0; i < 10000; ++i) {
      const char text[4] = {static_cast<char>('0' + i / 1000), static_cast<char>('0' + i / 100 % 10),
                            static_cast<char>('0' + i / 10 % 10), static_cast<char>('0' + i % 10)};
      const unsigned skip = i < 10 ? 3 : i < 100 ? 2 : i < 1000 ? 1 : 0;
      for (unsigned d = 0; d < 4; ++d) padded[i][d] = text[d];
      for (unsigned d = 0; d + skip < 4; ++d) left[i][d] = text[d + skip];
    }
  }
};
constexpr Digits digits;

char* format_left(char* out, std::uint32_t below_10000) {
  std::memcpy(out, digits.left[below_10000].data(), 4);
  return out + 1 + (below_10000 >= 10) + (below_10000 >= 100) + (below_10000 >= 1000);
}

char* format_padded(char* out, std::uint32_t below_10000) {
  std::memcpy(out, digits.padded[below_10000].data(), 4);
  return out + 4;
}

Error io_error(const std::string& what, const std::string& path) {
  return Error(ErrorKind::io, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

// A rename lasts only when the directory is on the disk, too. Some file systems cannot sync directories: not an error.
void sync_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace

char* format_number(char* out, std::uint64_t number) {
  if (number < 10000) return format_left(out, static_cast<std::uint32_t>(number));
  if (number < 100000000) {
    const std::uint32_t n = static_cast<std::uint32_t>(number);
    return format_padded(format_left(out, n / 10000), n % 10000);
  }
  const std::uint32_t rest = static_cast<std::uint32_t>(number % 100000000);
  out = format_number(out, number / 100000000);
  return format_padded(format_padded(out, rest / 10000), rest % 10000);
}

char* format_float(char* out, float number) {
  return std::to_chars(out, out + max_digits, number).ptr;
}

TextWriter::TextWriter(std::string path)
    : path_(std::move(path)), part_(fmt::format("{}.part-{}", path_, ::getpid())), buffer_(capacity) {
  file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw io_error("cannot be written", path_);
}

TextWriter::~TextWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(part_.c_str());
}

void TextWriter::write(std::string_view text) {
  if (text.size() > capacity - used_) flush();
  if (text.size() > capacity) return write_all(text.data(), text.size());
  std::memcpy(buffer_.data() + used_, text.data(), text.size());
  used_ += text.size();
}

void TextWriter::flush() {
  write_all(buffer_.data(), used_);
  used_ = 0;
}

void TextWriter::write_all(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(file_, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw io_error("a write failed", path_);
    data += done;
    size -= static_cast<std::size_t>(done);
    written_ += static_cast<std::uint64_t>(done);
  }
#ifdef __linux__
  // The disk works while we go on formatting; otherwise all of it would wait for the fsync of commit(). Only a hint.
  constexpr std::uint64_t stretch = 8 << 20;
  if (written_ - started_ >= stretch) {
    ::sync_file_range(file_, static_cast<off_t>(started_), static_cast<off_t>(written_ - started_),
                      SYNC_FILE_RANGE_WRITE);
    started_ = written_;
  }
#endif
}

void TextWriter::commit() {
  flush();
  if (::fsync(file_) != 0) throw io_error("the text could not be brought to the disk", path_);
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0 || std::rename(part_.c_str(), path_.c_str()) != 0) {
    const Error error = io_error("the finished file could not be put in its place", path_);
    ::unlink(part_.c_str());
    throw error;
  }
  sync_directory_of(path_);
}

void make_output_directory(const std::string& directory, bool force) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) throw Error(ErrorKind::io, fmt::format("{}: cannot be made: {}", directory, failure.message()));
  const bool empty = std::filesystem::is_empty(directory, failure);
  if (failure) throw Error(ErrorKind::io, fmt::format("{}: cannot be read: {}", directory, failure.message()));
  if (!empty && !force)
    throw Error(
        ErrorKind::config,
        fmt::format("{}: the directory is not empty; choose another, or replace its files with --force", directory));
}

}  // namespace ztp
