#include "io/cell_order.hpp"

#include <algorithm>
#include <bit>

#include "tensor/shuffle.hpp"

namespace ztp {

CellOrder CellOrder::shuffled(std::size_t order) {
  CellOrder result;
  result.order_ = order;
  return result;
}

CellOrder CellOrder::by_ids(const std::vector<Mode>& modes) {
  CellOrder result;
  result.order_ = modes.size();
  result.bits_ = 0;
  for (const Mode& mode : modes) {
    result.id_bits_.push_back(static_cast<unsigned>(std::bit_width(std::max(mode.labels.size(), 1u) - 1)));
    result.bits_ += result.id_bits_.back();
  }
  return result;
}

unsigned CellOrder::digit(const std::uint32_t* cell, unsigned skip) const {
  constexpr unsigned wanted = 8;
  if (is_shuffled()) return static_cast<unsigned>(shuffle_hash(cell, order_) << skip >> (64 - wanted));
  unsigned result = 0, found = 0;
  for (std::size_t k = 0; k < id_bits_.size() && found < wanted; ++k) {
    if (skip >= id_bits_[k]) {
      skip -= id_bits_[k];
      continue;
    }
    const unsigned left = id_bits_[k] - skip, taken = std::min(left, wanted - found);
    result = result << taken | (cell[k] >> (left - taken) & ((1u << taken) - 1));
    found += taken;
    skip = 0;
  }
  return result << (wanted - found);
}

}  // namespace ztp
