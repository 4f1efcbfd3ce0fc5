#include "kernel/cpu/instruction_set.hpp"

#include <fmt/format.h>

#include "kernel/cpu/targets.hpp"  // before Highway
#include "ztp/error.hpp"
// After the choice of targets.
#include <hwy/highway.h>

namespace ztp::cpu {
namespace {

// Asked for once, before any choice: afterwards Highway would name the chosen one alone.
const std::vector<std::int64_t>& targets() {
  static const std::vector<std::int64_t> all = hwy::SupportedAndGeneratedTargets();
  return all;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const std::int64_t target : targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void check_instruction_set() {
  if ((hwy::SupportedTargets() & HWY_TARGETS) == 0)
    throw Error(ErrorKind::config,
                "this processor is older than the vector kernels (x86-64 needs SSE4.2): use --kernel reference");
}

void use_instruction_set(const std::string& name) {
  const std::vector<std::int64_t>& all = targets();
  if (name.empty()) return hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : all)
    if (name == hwy::TargetName(target)) return hwy::SetSupportedTargetsForTest(target);
  throw Error(ErrorKind::config, fmt::format("instruction set {}: this processor or build has only {}", name,
                                             fmt::join(instruction_sets(), ", ")));
}

}  // namespace ztp::cpu
