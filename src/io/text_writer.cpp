#include "io/text_writer.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/errors.hpp"
#include "ztp/split.hpp"

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

void check_output_directory(const std::string& directory, bool force) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(directory, failure);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_directory(status))
    throw config_error("{}: exists and is no directory; choose another --out", directory);
  if (force) return;
  const bool empty = std::filesystem::is_empty(directory, failure);
  if (failure) throw io_error("{}: cannot be read: {}", directory, failure.message());
  if (!empty)
    throw config_error("{}: the directory is not empty; choose another, or replace its files with --force", directory);
}

void make_output_directory(const std::string& directory, bool force) {
  check_output_directory(directory, force);
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) throw io_error("{}: cannot be made: {}", directory, failure.message());
}

namespace {

void write_header(TextWriter& file, const std::vector<Mode>& modes, const char* last) {
  for (std::size_t k = 0; k < modes.size(); ++k) {
    file.put(k == 0 ? '#' : '\t');
    file.write(modes[k].name);
  }
  file.write(last);
  file.put('\n');
}

void write_cell(TextWriter& file, const std::vector<Mode>& modes, const std::uint32_t* cell, std::string& scratch) {
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (k > 0) file.put('\t');
    const LabelTable& labels = modes[k].labels;
    if (labels.is_numbered())
      file.number(std::uint64_t{labels.first_number()} + cell[k]);
    else
      file.write(labels.name(cell[k], scratch));
  }
}

}  // namespace

void write_label_file(const std::string& path, const LabelTable& labels, std::uint32_t first) {
  TextWriter file(path);
  std::string scratch;
  const std::string_view start = first < labels.size() ? labels.name(first, scratch) : std::string_view();
  if (start.starts_with('#') || start.starts_with("\xef\xbb\xbf")) file.write("#label\n");
  for (std::uint32_t j = first; j < labels.size(); ++j) {
    const std::string_view label = labels.name(j, scratch);
    file.write(label);
    file.put('\n');
  }
  file.commit();
}

void write_ones_file(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                     const Buffer<std::int64_t>& counts) {
  TextWriter file(path);
  write_header(file, modes, counts.empty() ? "" : "\tcount");
  std::string scratch;
  for (std::size_t e = 0; e * modes.size() < coords.size(); ++e) {
    write_cell(file, modes, coords.data() + e * modes.size(), scratch);
    if (!counts.empty()) {
      file.put('\t');
      file.number(static_cast<std::uint64_t>(counts[e]));
    }
    file.put('\n');
  }
  file.commit();
}

void write_test_file(const std::string& path, const std::vector<Mode>& modes, const TestCells& cells) {
  TextWriter file(path);
  write_header(file, modes, "\toutcome");
  std::string scratch;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    write_cell(file, modes, cells.coords.data() + i * modes.size(), scratch);
    file.write(cells.outcome[i] != 0 ? "\t1\n" : "\t0\n");
  }
  file.commit();
}

}  // namespace ztp
