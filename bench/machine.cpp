#include "machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernel/cpu/instruction_set.hpp"

namespace ztp::bench {
namespace {

std::size_t system_value(int name) {
  const long value = sysconf(name);
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

}  // namespace

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

// The compiler's baseline: the kernels have one form for all machines of an architecture.
std::string simd_target() {
  return cpu::instruction_sets().front();
}

unsigned hardware_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

std::size_t memory_bytes() {
  return system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE);
}

std::size_t last_cache_bytes() {
  return std::max(system_value(_SC_LEVEL3_CACHE_SIZE), system_value(_SC_LEVEL2_CACHE_SIZE));
}

nlohmann::ordered_json describe_machine() {
  return {{"cpu", cpu_name()},
          {"simd", simd_target()},
          {"threads", hardware_threads()},
          {"memory_bytes", memory_bytes()},
          {"last_cache_bytes", last_cache_bytes()},
          {"compiler", compiler()}};
}

}  // namespace ztp::bench
