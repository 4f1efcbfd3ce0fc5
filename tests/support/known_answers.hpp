// Known answers: what a seed means must not change with a redesign, a compiler or a machine. Those of Philox are
// published with Random123; the others are recorded.
#pragma once
#include <array>
#include <cstdint>

#include "base/random.hpp"

namespace ztp::test {

struct PhiloxAnswer {
  StreamKey key;
  std::uint32_t sweep;
  std::uint64_t index;
  std::uint32_t block;
  std::array<std::uint32_t, 4> words;
};

// philox4x32-10 of Random123's kat_vectors, whose counter is (index, index >> 32, sweep, block).
inline constexpr PhiloxAnswer philox_answers[] = {
    {{{0, 0}}, 0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{{0xffffffff, 0xffffffff}},
     0xffffffff,
     0xffffffffffffffff,
     0xffffffff,
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{{0xa4093822, 0x299f31d0}},
     0x13198a2e,
     0x85a308d3243f6a88,
     0x03707344,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

// Where draws go through the mathematics library, its last bits can matter.
#if defined(__x86_64__)
inline constexpr bool recorded_here = true;
#else
inline constexpr bool recorded_here = false;
#endif
inline constexpr const char* recorded_elsewhere = "recorded on x86-64; another mathematics library may round otherwise";

}  // namespace ztp::test
