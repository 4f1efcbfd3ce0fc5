// The hash of a label. All tables share it, so that each label is hashed once.
#pragma once
#define XXH_INLINE_ALL  // labels are short: the call would cost as much as the hash
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace ztp {

// 32 bits are enough for the slots of a table of max_mode_size labels, filled to a half.
inline std::uint32_t label_hash(std::string_view label) {
  return static_cast<std::uint32_t>(XXH3_64bits(label.data(), label.size()));
}

}  // namespace ztp
