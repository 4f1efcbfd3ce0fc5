// The random order of the ones in tensor files and minibatches: by a hash of the cell. It needs no memory, does not
// depend on the source of the ones, and brings repeated cells together.
#pragma once
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace ztp {

inline std::uint64_t shuffle_hash(const std::uint32_t* cell, std::size_t order) {
  return XXH3_64bits_withSeed(cell, order * sizeof(std::uint32_t), 0x7a74702d7368756full);
}

}  // namespace ztp
