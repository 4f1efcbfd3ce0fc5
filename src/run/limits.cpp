#include "run/limits.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <string_view>

#include "ztp/error.hpp"

namespace ztp {
namespace {

// The number that a text begins with, and what comes behind it; not a number, if it begins with none.
double leading_number(std::string_view text, std::string_view& rest) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : std::numeric_limits<double>::quiet_NaN();
}

// "Name:  12345 kB" in /proc/meminfo, in bytes.
double meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return 1024 * std::strtod(line.c_str() + name.size() + 1, nullptr);
  return std::numeric_limits<double>::infinity();
}

double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

}  // namespace

Interval checkpoint_interval(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit);
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (unit.empty() && value >= 1 && value <= 4294967295.0 && value == std::floor(value))
    return {static_cast<std::uint32_t>(value), 0};
  if (seconds > 0 && value > 0 && value * seconds <= 1e9) return {0, value * seconds};
  throw Error(ErrorKind::config,
              fmt::format("--checkpoint {}: must be a number of sweeps, as 50, or a time, as 30s, 10m or 2h", text));
}

double memory_limit(const std::string& text) {
  std::string_view unit;
  const double value = leading_number(text, unit);
  double factor = 1;
  if (!unit.empty()) {
    const std::size_t power = std::string_view("KMGT").find(static_cast<char>(unit[0] & ~0x20));
    if (power != std::string_view::npos) {
      factor = std::pow(1024.0, static_cast<double>(power + 1));
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
    if (unit == "B" || unit == "b") unit = {};
  }
  if (!unit.empty() || !(value > 0) || !(value * factor < 1e18))
    throw Error(ErrorKind::config, fmt::format("--memory {}: must be a size, as 8G, 500M or 2000000000", text));
  return value * factor;
}

std::string human_bytes(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

double resident_memory() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double memory_of_machine() {
  return std::min({resident_memory() + meminfo("MemAvailable"), number_in("/sys/fs/cgroup/memory.max"),
                   number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

}  // namespace ztp
