#include "simulate/distinct_cells.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>

#include "tensor/records.hpp"

namespace ztp {

unsigned bits_for(std::uint64_t size) {
  return static_cast<unsigned>(std::bit_width(size - 1));
}

KeySet::KeySet(const std::vector<std::uint64_t>& dims) : shift_(dims.size()), mask_(dims.size()) {
  for (std::size_t k = dims.size(); k-- > 0;) {
    // A mode of one entity takes no bits; its shift must still be less than 64.
    shift_[k] = bits_ < 64 ? bits_ : 0;
    mask_[k] = (std::uint64_t{1} << bits_for(dims[k])) - 1;
    bits_ += bits_for(dims[k]);
  }
}

void KeySet::merge(std::size_t sorted) {
  hwy::Sorter()(keys_.data() + sorted, keys_.size() - sorted, hwy::SortAscending());
  if (sorted > 0) std::inplace_merge(keys_.begin(), keys_.begin() + sorted, keys_.end());
  keys_.resize(static_cast<std::size_t>(std::unique(keys_.begin(), keys_.end()) - keys_.begin()));
}

void RecordSet::merge(std::size_t) {
  sort_and_merge_records(words_, width_);
}

}  // namespace ztp
