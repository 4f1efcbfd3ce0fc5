// What the calibration tests share: the short and the full form, and the tables of results that docs/correctness.md
// shows.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "ztp/choices.hpp"
#include "ztp/options.hpp"

namespace ztp::test {

// ZTP_FULL=1 makes the runs as long as `make calibration` wants them; without it they are part of `make test`.
inline bool full_form() {
  const char* value = std::getenv("ZTP_FULL");
  return value != nullptr && std::string(value) == "1";
}

// The kernel whose chains are tested: cpu, or what ZTP_TEST_KERNEL says (make test-cuda).
inline KernelName calibrated_kernel() {
  const char* value = std::getenv("ZTP_TEST_KERNEL");
  return value == nullptr ? KernelName::cpu : choice_named<KernelName>(value).value();
}

// Each model has seeds of its own, one for each purpose, so that their results are independent: FNV-1a of the name.
inline std::uint64_t seed_of(std::uint64_t purpose, const std::string& model) {
  std::uint64_t hash = 0xcbf29ce484222325 + purpose;
  for (const char c : model) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// A table of results, for plots: tab-separated, in the folder that ZTP_RESULTS names. Without it nothing is written.
class Results {
 public:
  Results(const std::string& name, const std::string& header) {
    const char* folder = std::getenv("ZTP_RESULTS");
    if (folder == nullptr) return;
    file_.open(fmt::format("{}/{}.tsv", folder, name));
    if (!file_) throw std::runtime_error(fmt::format("cannot write {}/{}.tsv", folder, name));
    file_ << header << '\n';
  }
  template <class... Values>
  void row(const Values&... values) {
    if (!file_.is_open()) return;
    std::string line;
    ((line += fmt::format("{}\t", values)), ...);
    line.back() = '\n';
    file_ << line << std::flush;
  }

 private:
  std::ofstream file_;
};

// The largest deviation of all, and of what.
struct Worst {
  double z = 0;
  std::string name;
  void consider(double other, const std::string& what) {
    if (std::isnan(other)) other = std::numeric_limits<double>::infinity();
    if (std::abs(other) <= std::abs(z)) return;
    z = other;
    name = what;
  }
};

}  // namespace ztp::test
