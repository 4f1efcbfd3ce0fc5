// Writes text to an AtomicFile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.hpp"

namespace ztp {

// Digits of a number in decimal; returns the end. Needs max_digits bytes of room, whatever the number.
inline constexpr std::size_t max_digits = 24;
char* format_number(char* out, std::uint64_t number);
// The shortest text that reads back as the same float.
char* format_float(char* out, float number);

class TextWriter : public AtomicFile {
 public:
  using AtomicFile::AtomicFile;
  void put(char c) { write(std::string_view(&c, 1)); }
  void number(std::uint64_t value) { advance(format_number(room(max_digits), value)); }
};

// Makes the directory and its parents. With contents in it already an error of kind config, unless forced.
void make_output_directory(const std::string& directory, bool force);

}  // namespace ztp
