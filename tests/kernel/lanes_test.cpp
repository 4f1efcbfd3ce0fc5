// Every instruction set has the known random words. There is no chance in a run.
#include <gtest/gtest.h>

#include <vector>

#include "kernel/cpu/targets.hpp"  // before Highway
#include "known_answers.hpp"
#include "targets.hpp"

// This file, from a folder that is searched for headers: it is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../kernel/lanes_test.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

// Words [stream][word] of 3 x width streams whose indices are `index` + 0, 1, 2, ..., as the kernels draw them.
void draw_words(const test::PhiloxAnswer& of, std::vector<std::array<std::uint32_t, 4>>& drawn) {
  const U32 d;
  const auto low = static_cast<std::uint32_t>(of.index), high = static_cast<std::uint32_t>(of.index >> 32);
  Words index[3], words[3][4];
  for (std::uint32_t v = 0; v < 3; ++v) index[v] = hn::Iota(d, low + v * static_cast<std::uint32_t>(width));
  const Words highs[3] = {hn::Set(d, high), hn::Set(d, high), hn::Set(d, high)};
  random_words<3>(RoundKeys({of.key, of.sweep}), index, highs, of.block, words);
  drawn.assign(3 * width, {});
  for (std::size_t v = 0; v < 3; ++v)
    for (std::size_t i = 0; i < 4; ++i) {
      alignas(64) std::uint32_t lane[width];
      hn::Store(words[v][i], d, lane);
      for (std::size_t l = 0; l < width; ++l) drawn[v * width + l][i] = lane[l];
    }
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {
namespace {
HWY_EXPORT(draw_words);
void draw_words_here(const test::PhiloxAnswer& of, std::vector<std::array<std::uint32_t, 4>>& drawn) {
  HWY_DYNAMIC_DISPATCH(draw_words)(of, drawn);
}
}  // namespace
}  // namespace ztp::cpu

namespace ztp::test {
namespace {

// In the first lane the published answers; in the others, whose indices are larger by one each, what the scalar code
// gives.
TEST(Lanes, PhiloxKnownAnswers) {
  for_each_target([](const std::string& target) {
    for (const PhiloxAnswer& answer : philox_answers) {
      std::vector<std::array<std::uint32_t, 4>> drawn;
      cpu::draw_words_here(answer, drawn);
      ASSERT_GE(drawn.size(), 12u) << target;
      EXPECT_EQ(drawn[0], answer.words) << target;
      for (std::uint32_t l = 1; l < drawn.size(); ++l) {
        const std::uint64_t index =  // the upper half stays
            (answer.index & ~std::uint64_t{0xffffffff}) | (static_cast<std::uint32_t>(answer.index) + l);
        EXPECT_EQ(drawn[l], random_block(answer.key, answer.sweep, index, answer.block)) << target << ", lane " << l;
      }
    }
  });
}

}  // namespace
}  // namespace ztp::test
#endif
