#include "base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace ztp {
namespace {

std::size_t processes_here = 1;

// "Name:  12345 kB" in a file of /proc, in bytes.
double field_of_proc_file(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return 1024 * std::strtod(line.c_str() + name.size() + 1, nullptr);
  return std::numeric_limits<double>::infinity();
}

double number_in_file(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

}  // namespace

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

double room_within(double limit) {
  return std::max(limit / 32, (limit - resident_memory()) / 2);
}

std::uint64_t peak_memory() {
  const double bytes = field_of_proc_file("/proc/self/status", "VmHWM");
  if (std::isfinite(bytes)) return static_cast<std::uint64_t>(bytes);
  rusage usage{};  // without /proc. Less exact: it is inherited from the parent process
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

double memory_of_machine() {
  const double all = std::min({resident_memory() + field_of_proc_file("/proc/meminfo", "MemAvailable"),
                               number_in_file("/sys/fs/cgroup/memory.max"),
                               number_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
  return all / static_cast<double>(processes_here);
}

void share_memory(std::size_t processes) {
  processes_here = processes;
}
std::size_t processes_on_machine() {
  return processes_here;
}

}  // namespace ztp
