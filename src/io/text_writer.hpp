// Text files written fast, checked at every step, and never half there: a file appears under its name only when it is whole
// and on the disk.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ztp/buffer.hpp"

namespace ztp {

// Digits of a number in decimal; returns the end. Needs max_digits bytes of room, whatever the number.
inline constexpr std::size_t max_digits = 24;
char* format_number(char* out, std::uint64_t number);
// The shortest text that reads back as the same float.
char* format_float(char* out, float number);

// Writes PATH.part-PID beside the final place. commit() brings the text to the disk and renames the file; without it (an
// exception) the destructor removes it. Failures are errors of kind io with the path and the system's reason.
class TextWriter {
 public:
  explicit TextWriter(std::string path);
  ~TextWriter();
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  void write(std::string_view text);
  void put(char c) { write(std::string_view(&c, 1)); }
  void number(std::uint64_t value) { advance(format_number(room(max_digits), value)); }
  // For inner loops: at least `bytes` bytes to fill (at most 64 KiB), then where the filling stopped.
  char* room(std::size_t bytes) {
    if (capacity - used_ < bytes) flush();
    return buffer_.data() + used_;
  }
  void advance(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }

  void commit();
  std::uint64_t bytes() const { return written_ + used_; }

 private:
  void flush();
  void write_all(const char* data, std::size_t size);

  static constexpr std::size_t capacity = 1 << 20;
  std::string path_;
  std::string part_;
  int file_ = -1;
  Buffer<char> buffer_;
  std::size_t used_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t started_ = 0;  // bytes whose way to the disk has begun
};

// Makes the directory and its parents. With contents in it already an error of kind config, unless forced.
void make_output_directory(const std::string& directory, bool force);

}  // namespace ztp
