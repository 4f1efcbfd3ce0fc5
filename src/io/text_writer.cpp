#include "io/text_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ztp/error.hpp"
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
    throw Error(ErrorKind::config, fmt::format("{}: exists and is no directory; choose another --out", directory));
  if (force) return;
  const bool empty = std::filesystem::is_empty(directory, failure);
  if (failure) throw Error(ErrorKind::io, fmt::format("{}: cannot be read: {}", directory, failure.message()));
  if (!empty)
    throw Error(
        ErrorKind::config,
        fmt::format("{}: the directory is not empty; choose another, or replace its files with --force", directory));
}

void make_output_directory(const std::string& directory, bool force) {
  check_output_directory(directory, force);
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) throw Error(ErrorKind::io, fmt::format("{}: cannot be made: {}", directory, failure.message()));
}

}  // namespace ztp
