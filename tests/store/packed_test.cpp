// Packed floats: what HDF5's filters would undo, and what unpack() undoes.
#include "store/packed.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace ztp {
namespace {

std::vector<float> numbers(std::size_t count) {
  Stream stream({7, 0}, 0, 0);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(std::exp(-80 * stream.uniform()));
  return values;
}

std::vector<std::byte> packed(const std::vector<float>& values, std::size_t floats) {
  std::vector<std::byte> bytes(packed_bytes(floats), std::byte{0xee});
  pack(values.data(), values.size(), floats, bytes.data());
  return bytes;
}

TEST(Packed, IsWhatDeflateAndShuffleUndo) {
  // Around the lengths of copies (258) and of stored blocks (65,535).
  for (const std::size_t floats : {1u, 2u, 129u, 130u, 1000u, 32767u, 32768u, 65535u, 65536u, 200000u}) {
    const std::vector<float> values = numbers(floats);
    const std::vector<std::byte> bytes = packed(values, floats);
    std::vector<std::uint8_t> shuffled(4 * floats);
    uLongf length = shuffled.size();
    ASSERT_EQ(uncompress(shuffled.data(), &length, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()), Z_OK)
        << floats;
    ASSERT_EQ(length, 4 * floats);
    for (std::size_t i = 0; i < floats; ++i) {
      std::uint32_t bits = 0;
      for (std::size_t b = 0; b < 4; ++b) bits |= std::uint32_t{shuffled[b * floats + i]} << 8 * b;
      ASSERT_EQ(std::bit_cast<float>(bits), rounded_to_pack(values[i])) << floats << " " << i;
    }
  }
}

TEST(Packed, ComesBackRounded) {
  const std::vector<float> values = numbers(70000);
  const std::vector<std::byte> bytes = packed(values, 80000);
  std::vector<float> back(80000, -1.0f);
  ASSERT_TRUE(unpack(bytes.data(), bytes.size(), 80000, 80000, back.data()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(back[i], rounded_to_pack(values[i]));
    ASSERT_LE(std::abs(back[i] - values[i]), values[i] / 256) << i;
  }
  for (std::size_t i = values.size(); i < back.size(); ++i) ASSERT_EQ(back[i], 0.0f);
  // What was rounded once stays as it is.
  EXPECT_EQ(packed(back, 80000), bytes);
}

// Parts that begin and end before, at and after the ends of stored blocks.
TEST(Packed, APartIsReadWithoutTheRest) {
  const std::size_t floats = 200000;
  const std::vector<float> values = numbers(floats);
  const std::vector<std::byte> bytes = packed(values, floats);
  const ReadPart read = [&](std::uint64_t offset, void* to, std::size_t count) {
    ASSERT_LE(offset + count, bytes.size());
    std::memcpy(to, bytes.data() + offset, count);
  };
  for (const std::size_t first : {0u, 1u, 65534u, 65535u, 65536u, 131070u, 199999u})
    for (const std::size_t count : {1u, 2u, 65534u, 65535u, 65536u, 140000u, 200000u}) {
      if (first + count > floats) continue;
      std::vector<float> part(count);
      ASSERT_TRUE(unpack_part(read, bytes.size(), floats, first, count, part.data()));
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(part[i], rounded_to_pack(values[first + i])) << first << " " << count << " " << i;
    }
  float one = 0;
  EXPECT_FALSE(unpack_part(read, bytes.size() + 1, floats, 0, 1, &one));
}

TEST(Packed, RoundsToTheNearest) {
  EXPECT_EQ(rounded_to_pack(0.0f), 0.0f);
  EXPECT_EQ(rounded_to_pack(1.0f), 1.0f);
  EXPECT_EQ(rounded_to_pack(1.0f + 1.0f / 256), 1.0f);               // a tie, to even
  EXPECT_EQ(rounded_to_pack(1.0f + 3.0f / 256), 1.0f + 4.0f / 256);  // likewise
  EXPECT_EQ(rounded_to_pack(0.999f), 1.0f);
  EXPECT_EQ(rounded_to_pack(1e-40f),
            std::bit_cast<float>((std::bit_cast<std::uint32_t>(1e-40f) + 0x7fffu) & 0xffff0000u));
  for (const std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u})
    EXPECT_TRUE(std::isnan(rounded_to_pack(std::bit_cast<float>(bits)))) << bits;
}

// Two numbers of floats whose packed forms are equally long, one after the other in one thread.
TEST(Packed, FramesOfTheSameLengthAreToldApart) {
  const std::size_t sizes[] = {1048529, 1048465};
  ASSERT_EQ(packed_bytes(sizes[0]), packed_bytes(sizes[1]));
  for (const std::size_t floats : sizes) {
    const std::vector<float> values = numbers(floats);
    const std::vector<std::byte> bytes = packed(values, floats);
    std::vector<float> back(floats);
    ASSERT_TRUE(unpack(bytes.data(), bytes.size(), floats, floats, back.data())) << floats;
    for (std::size_t i = 0; i < floats; ++i) ASSERT_EQ(back[i], rounded_to_pack(values[i])) << floats << " " << i;
  }
}

TEST(Packed, OtherBytesAreRefused) {
  const std::vector<float> values = numbers(100000);
  const std::vector<std::byte> bytes = packed(values, values.size());
  std::vector<float> back(values.size());
  EXPECT_FALSE(unpack(bytes.data(), bytes.size() - 1, values.size(), values.size(), back.data()));
  EXPECT_FALSE(unpack(bytes.data(), bytes.size(), values.size() - 1, values.size() - 1, back.data()));
  for (const std::size_t damaged : {std::size_t{0}, std::size_t{20}, std::size_t{700}}) {
    std::vector<std::byte> other = bytes;
    other[damaged] ^= std::byte{4};
    EXPECT_FALSE(unpack(other.data(), other.size(), values.size(), values.size(), back.data())) << damaged;
  }
}

}  // namespace
}  // namespace ztp
