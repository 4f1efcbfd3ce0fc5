#include "simulate/alias.hpp"

#include <algorithm>
#include <array>

namespace ztp {

AliasTable::AliasTable(const TrueFactorColumn& column) : slots_(column.ids.size()) {
  const std::size_t size = slots_.size();
  Buffer<double> left(size);            // what of size * u has not found its slot yet
  Buffer<std::uint32_t> pending(size);  // those below one from the front, the others from the back
  std::size_t small = 0, large = size;
  for (std::size_t i = 0; i < size; ++i) {
    left[i] = column.u[i] * static_cast<double>(size);
    pending[left[i] < 1 ? small++ : --large] = static_cast<std::uint32_t>(i);
    slots_[i] = {0xffffffffu, column.ids[i], column.ids[i]};
  }
  while (small > 0 && large < size) {
    const std::uint32_t i = pending[--small], donor = pending[large];
    slots_[i].coin = static_cast<std::uint32_t>(std::max(0.0, left[i]) * 0x1p32);
    slots_[i].other = column.ids[donor];
    left[donor] -= 1 - left[i];
    if (left[donor] < 1) {
      ++large;
      pending[small++] = donor;
    }
  }
  // The remaining slots are full up to rounding, and keep `self` on both sides.
}

void AliasTable::draw(StreamKey key, std::uint32_t round, std::uint64_t index, std::size_t count,
                      std::uint32_t* ids) const {
  // Random numbers first, then look-ups, so that many look-ups, which miss the cache in large tables, overlap.
  std::array<std::uint64_t, 512> bits;
  for (std::size_t begin = 0; begin < count; begin += bits.size()) {
    for (std::size_t i = 0; i < bits.size(); i += 2) {
      const auto words = random_block(key, round, index, static_cast<std::uint32_t>((begin + i) / 2));
      bits[i] = words[0] | static_cast<std::uint64_t>(words[1]) << 32;
      bits[i + 1] = words[2] | static_cast<std::uint64_t>(words[3]) << 32;
    }
    const std::size_t here = std::min(bits.size(), count - begin);
    for (std::size_t i = 0; i < here; ++i) ids[begin + i] = pick(bits[i]);
  }
}

}  // namespace ztp
