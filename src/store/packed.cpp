#include "store/packed.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ztp {
namespace {

// The parts of a stream (RFC 1950 and 1951): two bytes of header, a run of 2 n zeros, the two upper bytes of n floats
// in stored blocks, and a checksum.
constexpr std::size_t bytes_of_header = 2, bytes_of_checksum = 4, bytes_of_block_header = 5, most_of_block = 65535;
constexpr std::uint8_t header[bytes_of_header] = {0x78, 0x01};

class BitWriter {
 public:
  explicit BitWriter(std::byte* to) : to_(to) {}
  void put(std::uint32_t bits, unsigned count) {
    waiting_ |= std::uint64_t{bits} << count_;
    for (count_ += count; count_ >= 8; count_ -= 8, waiting_ >>= 8) *to_++ = static_cast<std::byte>(waiting_);
  }
  std::byte* align() {
    if (count_ > 0) put(0, 8 - count_);
    return to_;
  }

 private:
  std::byte* to_;
  std::uint64_t waiting_ = 0;
  unsigned count_ = 0;
};

// A run of zeros in the fixed code: a zero, copies of the 258 bytes before the end, and zeros for what is left.
struct Run {
  static constexpr std::size_t longest = 258;
  explicit Run(std::size_t zeros) : copies((zeros - 1) / longest), singles((zeros - 1) % longest) {}
  std::size_t bits() const { return 3 + 8 + 13 * copies + 8 * singles + 7; }
  std::size_t copies, singles;
};

// With the three bits that begin the next block, up to the next whole byte.
std::size_t bytes_of_run(std::size_t zeros) {
  return (Run(zeros).bits() + 3 + 7) / 8;
}

// Codes are written from their first bit on, which is the highest of the code.
constexpr std::uint32_t zero = 0b00001100;       // 00110000 for the byte 0
constexpr std::uint32_t copy = 0b0000010100011;  // 11000101 for a length of 258, 00000 for a distance of 1

std::byte* put_run(std::size_t zeros, bool last_block_follows, std::byte* to) {
  const Run run(zeros);
  BitWriter bits(to);
  bits.put(0b010, 3);  // not the last block, fixed code
  bits.put(zero, 8);
  for (std::size_t i = 0; i < run.copies; ++i) bits.put(copy, 13);
  for (std::size_t i = 0; i < run.singles; ++i) bits.put(zero, 8);
  bits.put(0, 7);  // its end
  bits.put(last_block_follows ? 1 : 0, 3);
  return bits.align();
}

std::size_t stored_blocks(std::size_t bytes) {
  return (bytes + most_of_block - 1) / most_of_block;
}

// Calls use(begin, size) for the part of the stored bytes in each block.
template <class Use>
void for_stored_blocks(std::size_t bytes, const Use& use) {
  for (std::size_t begin = 0; begin < bytes; begin += most_of_block) use(begin, std::min(most_of_block, bytes - begin));
}

// All but the checksum and the stored bytes: the same for any numbers. `blocks`: where the bytes of each block begin.
void put_frame(std::size_t floats, std::byte* packed, std::vector<std::byte*>& blocks) {
  std::memcpy(packed, header, sizeof header);
  const std::size_t stored = 2 * floats;
  std::byte* to = put_run(2 * floats, stored <= most_of_block, packed + sizeof header);
  for_stored_blocks(stored, [&](std::size_t begin, std::size_t size) {
    // The first three bits of the first block end the run.
    if (begin > 0) *to++ = static_cast<std::byte>(begin + size == stored ? 1 : 0);
    for (const std::size_t length : {size, ~size})
      for (const unsigned shift : {0u, 8u}) *to++ = static_cast<std::byte>(length >> shift);
    blocks.push_back(to);
    to += size;
  });
}

std::uint32_t rounded_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return bits | 0x00400000u;         // what is not a number stays so
  return (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;  // to the nearest, ties to even
}

}  // namespace

float rounded_to_pack(float value) {
  return std::bit_cast<float>(rounded_bits(value));
}

std::size_t packed_bytes(std::size_t floats) {
  return bytes_of_header + bytes_of_run(2 * floats) + stored_blocks(2 * floats) * bytes_of_block_header - 1 +
         2 * floats + bytes_of_checksum;
}

void pack(const float* values, std::size_t given, std::size_t floats, std::byte* packed) {
  std::vector<std::byte*> blocks;
  put_frame(floats, packed, blocks);
  std::vector<std::uint8_t> planes(2 * floats, 0);
  std::uint8_t *const low = planes.data(), *const high = low + floats;
  for (std::size_t i = 0; i < given; ++i) {
    const std::uint32_t bits = rounded_bits(values[i]);
    low[i] = static_cast<std::uint8_t>(bits >> 16);
    high[i] = static_cast<std::uint8_t>(bits >> 24);
  }
  for_stored_blocks(planes.size(), [&](std::size_t begin, std::size_t size) {
    std::memcpy(blocks[begin / most_of_block], planes.data() + begin, size);
  });
  // Adler-32 of the zeros is 1 and, in the upper half, how many they are.
  uLong sum = 1 | static_cast<uLong>(2 * floats % 65521) << 16;
  sum = adler32_z(sum, planes.data(), planes.size());
  std::byte* end = packed + packed_bytes(floats);
  for (unsigned i = 0; i < bytes_of_checksum; ++i) *--end = static_cast<std::byte>(sum >> 8 * i);
}

namespace {

void join(const std::uint8_t* low, const std::uint8_t* high, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::bit_cast<float>(std::uint32_t{low[i]} << 16 | std::uint32_t{high[i]} << 24);
}

// Where stored byte i is. The first block has no byte of its own for the bits that begin a block.
std::size_t place_of_stored(std::size_t floats, std::size_t i) {
  return bytes_of_header + bytes_of_run(2 * floats) + bytes_of_block_header - 1 + i +
         i / most_of_block * bytes_of_block_header;
}

// Some of the stored bytes, without what begins blocks.
void read_stored(const ReadPart& read, std::size_t floats, std::size_t first, std::size_t count,
                 std::vector<std::uint8_t>& bytes) {
  const std::size_t begin = place_of_stored(floats, first);
  bytes.resize(place_of_stored(floats, first + count - 1) + 1 - begin);
  read(begin, bytes.data(), bytes.size());
  std::size_t done = most_of_block - first % most_of_block;  // up to the next block
  for (std::size_t from = done + bytes_of_block_header; done < count; from += most_of_block + bytes_of_block_header) {
    const std::size_t here = std::min(most_of_block, count - done);
    std::memmove(bytes.data() + done, bytes.data() + from, here);
    done += here;
  }
}

}  // namespace

bool unpack_part(const ReadPart& read, std::uint64_t bytes, std::size_t floats, std::size_t first, std::size_t count,
                 float* values) {
  if (bytes != packed_bytes(floats)) return false;
  if (count == 0) return true;
  std::vector<std::uint8_t> low, high;
  read_stored(read, floats, first, count, low);
  read_stored(read, floats, floats + first, count, high);
  join(low.data(), high.data(), count, values);
  return true;
}

bool unpack(const std::byte* packed, std::size_t bytes, std::size_t floats, std::size_t wanted, float* values) {
  if (bytes != packed_bytes(floats)) return false;
  // The frame is made again, with gaps for what is stored, and compared: another number of floats may have a frame of
  // the same length.
  static thread_local std::vector<std::byte> frame;
  static thread_local std::vector<std::byte*> blocks;
  static thread_local std::size_t made_for = 0;
  if (made_for != floats) {
    made_for = 0;
    frame.assign(bytes, std::byte{0});
    blocks.clear();
    put_frame(floats, frame.data(), blocks);
    made_for = floats;
  }
  const std::byte* begin = frame.data();
  std::vector<std::uint8_t> planes(2 * floats);
  bool same = true;
  for_stored_blocks(planes.size(), [&](std::size_t first, std::size_t size) {
    const std::byte* const block = blocks[first / most_of_block];
    const std::ptrdiff_t at = begin - frame.data();
    same = same && std::memcmp(begin, packed + at, static_cast<std::size_t>(block - begin)) == 0;
    std::memcpy(planes.data() + first, packed + (block - frame.data()), size);
    begin = block + size;
  });
  join(planes.data(), planes.data() + floats, wanted, values);
  return same;
}

}  // namespace ztp
