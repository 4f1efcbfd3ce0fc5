// An order in which cells can be sorted outside memory: eight bits of a key at a time, from its first bits to its last.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ztp/labels.hpp"

namespace ztp {

class CellOrder {
 public:
  // That of a tensor file: by shuffle_hash.
  static CellOrder shuffled(std::size_t order);
  // That of a SparseTensor: by the ids, mode after mode.
  static CellOrder by_ids(const std::vector<Mode>& modes);

  std::size_t order() const { return order_; }           // K
  bool is_shuffled() const { return id_bits_.empty(); }  // by the hash, and then by the ids
  unsigned bits() const { return bits_; }                // of a key
  // Eight bits of the key of a cell, after the first `skip` ones.
  unsigned digit(const std::uint32_t* cell, unsigned skip) const;

 private:
  std::size_t order_ = 0;
  unsigned bits_ = 64;
  std::vector<unsigned> id_bits_;  // of each mode; the key has them one after the other
};

}  // namespace ztp
