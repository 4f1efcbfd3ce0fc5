// What a seed means, pinned: Philox, how a stream reads its words, the key of every purpose, and a few draws. There is
// no chance in a run.
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "known_answers.hpp"
#include "model/distributions.hpp"

namespace ztp::test {
namespace {

TEST(Random, PhiloxKnownAnswers) {
  for (const PhiloxAnswer& answer : philox_answers)
    EXPECT_EQ(random_block(answer.key, answer.sweep, answer.index, answer.block), answer.words);
}

// How a stream reads its words: in order, low half first, the upper 52 bits of 64 for a uniform.
TEST(Random, StreamReadsTheKnownAnswerInOrder) {
  Stream stream({{0, 0}}, 0, 0);
  EXPECT_EQ(stream.bits32(), 0x6627e8d5u);
  EXPECT_EQ(stream.bits32(), 0xe169c58du);
  EXPECT_EQ(stream.bits64(), 0x9b00dbd8bc57ac4cu);
  const auto second = random_block({{0, 0}}, 0, 0, 1);
  EXPECT_EQ(stream.bits32(), second[0]);
  Stream again({{0, 0}}, 0, 0);
  EXPECT_EQ(again.uniform(), (static_cast<double>(0xe169c58d6627eu) + 0.5) * 0x1p-52);
}

TEST(Random, SkippedNumbersAreThoseThatWouldHaveBeenRead) {
  const StreamKey key = stream_key(29, 5, Purpose::simulate);
  for (std::uint32_t count = 0; count < 20; ++count) {
    Stream skipped(key, 3, 1000), read(key, 3, 1000);
    skipped.skip_uniforms(count);
    for (std::uint32_t i = 0; i < count; ++i) read.uniform();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(skipped.uniform(), read.uniform()) << count;
    EXPECT_EQ(skipped.bits32(), read.bits32()) << count;
  }
}

std::uint64_t number_of(StreamKey key) {
  return key.word[0] | (static_cast<std::uint64_t>(key.word[1]) << 32);
}

constexpr auto last_purpose = static_cast<std::uint32_t>(Purpose::rival_weights);

// Of seed 2^32 + 7, chain 3 and mode 5. A purpose that is added is added here, too.
TEST(Random, KeysOfAllPurposesAreTheRecordedOnes) {
  const std::uint64_t recorded[] = {
      0x08a42f65dc09b0d1, 0x1281ed32eaa0fd55, 0x407147c50551e16d, 0xa7428bc0942fd369, 0x7922870da5029e8e,
      0x28ae7649cda539e0, 0xfdb4304d52544cc8, 0x33e026e92a87bf7e, 0xb961e9fe084130cb, 0x15f46d09aa2b531a,
      0x8298d868c6a7fdd2, 0x5489f72407f26b57, 0xde1313e80e5cbff0, 0x1b7dbe7d0ef92bcf, 0x82cbb311f7a968df,
      0xb82ee49942e36fd8, 0xa3f34ef8662ae1eb, 0xd442c11a995c06b5, 0x46932706be16b458, 0x6344a4f0e73d3d73,
      0x60d29c8fc94b3e9e, 0xac01ab8ecc008365, 0xf78cc94711aab6db, 0x40ec9ceb36f3c98c, 0x569a6ef49acc29ad};
  ASSERT_EQ(std::size(recorded), last_purpose);
  for (std::uint32_t purpose = 1; purpose <= last_purpose; ++purpose)
    EXPECT_EQ(number_of(stream_key((std::uint64_t{1} << 32) + 7, 3, static_cast<Purpose>(purpose), 5)),
              recorded[purpose - 1])
        << "purpose " << purpose;
}

// Keys of different seeds, chains, purposes and modes must all differ: equal keys would repeat the same draws.
TEST(Random, KeysDiffer) {
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t s : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (std::uint32_t chain = 0; chain < 4; ++chain)
      for (std::uint32_t purpose = 1; purpose <= last_purpose; ++purpose)
        for (std::uint32_t mode = 0; mode < 8; ++mode)
          keys.push_back(number_of(stream_key(s, chain, static_cast<Purpose>(purpose), mode)));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

using Draws = std::vector<std::int64_t>;

template <class Draw>
Draws first_of(std::uint64_t index, Draw draw) {
  Stream stream(stream_key(1, 2, Purpose::counts, 3), 4, index);
  Draws draws;
  for (int i = 0; i < 6; ++i) draws.push_back(static_cast<std::int64_t>(draw(stream)));
  return draws;
}

TEST(Random, DrawsBelowABoundAreTheRecordedOnes) {
  EXPECT_EQ(first_of(0, [](Stream& s) { return s.below(10); }), (Draws{2, 0, 2, 3, 0, 2}));
  EXPECT_EQ(first_of(1, [](Stream& s) { return s.below(1000003); }),
            (Draws{788541, 643692, 577340, 259163, 905029, 131939}));
}

// Small and large means: each has its own algorithm.
TEST(Random, CountsAreTheRecordedOnes) {
  if (!recorded_here) GTEST_SKIP() << recorded_elsewhere;
  EXPECT_EQ(first_of(2, [](Stream& s) { return draw_poisson(s, 0.7); }), (Draws{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(first_of(3, [](Stream& s) { return draw_poisson(s, 1e6); }),
            (Draws{998916, 998971, 999879, 998586, 1000229, 998982}));
  EXPECT_EQ(first_of(4, [](Stream& s) { return draw_zero_truncated_poisson(s, 0.4); }), (Draws{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(first_of(5, [](Stream& s) { return draw_zero_truncated_poisson(s, 50); }), (Draws{50, 45, 56, 60, 55, 54}));
  EXPECT_EQ(first_of(6, [](Stream& s) { return draw_binomial(s, 9, 0.3); }), (Draws{5, 4, 1, 2, 3, 3}));
  EXPECT_EQ(first_of(7, [](Stream& s) { return draw_binomial(s, 1'000'000'000, 0.8); }),
            (Draws{800012458, 800003654, 799999816, 800005470, 799998088, 799985933}));
}

}  // namespace
}  // namespace ztp::test
