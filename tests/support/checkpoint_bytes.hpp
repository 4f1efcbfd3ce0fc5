// All that a chain carries from step to step, as bytes.
#pragma once
#include <cstring>
#include <string>

#include "sampler/any_chain.hpp"

namespace ztp::test {

inline std::string carried_bytes(AnyChain& chain) {
  std::string bytes;
  for (const Carried& part : chain.carried()) bytes.append(static_cast<const char*>(part.data), part.bytes);
  return bytes;
}

// As after `steps` steps, when it carried these.
inline void restore(AnyChain& chain, const std::string& bytes, std::uint32_t steps) {
  const char* at = bytes.data();
  for (const Carried& part : chain.carried()) {
    std::memcpy(part.data, at, part.bytes);
    at += part.bytes;
  }
  chain.restore(steps);
}

}  // namespace ztp::test
