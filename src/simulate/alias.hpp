// Draws from a discrete distribution in constant time (Walker 1977, built as by Vose 1991).
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "ztp/buffer.hpp"
#include "ztp/simulate.hpp"

namespace ztp {

class AliasTable {
 public:
  AliasTable() = default;
  explicit AliasTable(const TrueFactorColumn& column);

  static constexpr std::size_t slot_bytes = 12;
  std::size_t size() const { return slots_.size(); }

  // One entity. The high part of bits * size is the slot, its low part the coin that decides between the two entities
  // of the slot; the error in a probability is at most 2^-32 / size.
  std::uint32_t pick(std::uint64_t bits) const {
    const uint128 product = static_cast<uint128>(bits) * slots_.size();
    const Slot slot = slots_[static_cast<std::size_t>(product >> 64)];
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32) < slot.coin ? slot.self : slot.other;
  }

  // `count` entities with the random numbers of the streams (key, round, index).
  void draw(StreamKey key, std::uint32_t round, std::uint64_t index, std::size_t count, std::uint32_t* ids) const;

 private:
  struct Slot {
    std::uint32_t coin;  // of 2^32: below it `self`, from it on `other`
    std::uint32_t self;  // entities, not positions: no second look-up
    std::uint32_t other;
  };
  static_assert(sizeof(Slot) == slot_bytes);
  Buffer<Slot> slots_;
};

}  // namespace ztp
