// Writes text files, among them those in the input formats of ztp.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// A number in decimal, the shortest text that reads back as the same; returns the end. Needs max_digits bytes of room.
inline constexpr std::size_t max_digits = 24;
template <class T>
char* format_number(char* out, T number) {
  return std::to_chars(out, out + max_digits, number).ptr;
}

class TextWriter : public AtomicFile {
 public:
  using AtomicFile::AtomicFile;
  void put(char c) { write(std::string_view(&c, 1)); }
  void number(std::uint64_t value) { advance(format_number(room(max_digits), value)); }
};

// Makes the directory and its parents. With contents in it already an error of kind config, unless forced.
void make_output_directory(const std::string& directory, bool force);

// One label per line, from the entity `first` on; after a header, if the first label could be taken for one.
void write_label_file(const std::string& path, const LabelTable& labels, std::uint32_t first = 0);
// A header `#mode...` and the ones, with their counts in a last column if there are any.
void write_ones_file(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                     const Buffer<std::int64_t>& counts);
// A header `#mode... outcome`, and the cells with a last column 0 or 1; or `count`, and counts.
void write_test_file(const std::string& path, const std::vector<Mode>& modes, const TestCells& cells);

}  // namespace ztp
