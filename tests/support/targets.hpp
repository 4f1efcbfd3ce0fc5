// Runs a check once for every instruction set that this processor has: a kernel is right only if all of its variants
// are.
#pragma once
#include "kernel/cpu/instruction_set.hpp"

namespace ztp::test {

template <class Check>
void for_each_target(Check check) {
  for (const std::string& name : cpu::instruction_sets()) {
    cpu::use_instruction_set(name);
    check(name);
  }
  cpu::use_instruction_set("");
}

}  // namespace ztp::test
