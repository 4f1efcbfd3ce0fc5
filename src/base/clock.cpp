#include "base/clock.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "base/errors.hpp"

namespace ztp {
namespace {

std::time_t seconds_of_creation() {
  const char* wanted = std::getenv("SOURCE_DATE_EPOCH");
  if (wanted == nullptr) return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  constexpr std::time_t end_of_9999 = 253402300799;
  const std::string_view text = wanted;
  std::time_t seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > end_of_9999)
    throw usage_error(
        "the environment variable SOURCE_DATE_EPOCH is \"{}\": it must be an integer number of seconds since 1970, or "
        "unset",
        text.substr(0, 40));
  return seconds;
}

}  // namespace

std::string time_of_creation() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds_of_creation()));
}

}  // namespace ztp
