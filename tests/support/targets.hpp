// Runs a check once for every instruction set that this processor has: a kernel is right only if all of its variants
// are. Under a sanitizer, which makes it many times as slow, for the widest alone: the others run the same lines.
#pragma once
#include <string>
#include <vector>

#include "kernel/cpu/instruction_set.hpp"

namespace ztp::test {

template <class Check>
void for_each_target(Check check) {
  std::vector<std::string> names = cpu::instruction_sets();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  names.resize(1);
#endif
  for (const std::string& name : names) {
    cpu::use_instruction_set(name);
    check(name);
  }
  cpu::use_instruction_set("");
}

}  // namespace ztp::test
