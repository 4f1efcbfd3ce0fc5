#include "posterior/queries.hpp"

#include <limits>

#include "tensor/records.hpp"
#include "ztp/error.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

Queries::Queries(const Buffer<std::uint32_t>& ones, std::size_t order, std::size_t mode) : order_(order), mode_(mode) {
  const std::size_t count = ones.size() / order;
  if (count >= std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::config, "more than 2^32 test ones cannot be ranked at once; take a part of them");
  others_.resize(count * (order - 1));
  for (std::size_t e = 0; e < count; ++e) set_others(ones.data() + e * order, others_.data() + e * (order - 1));
  sort_and_merge_records(others_, order - 1);
  add_known(ones.data(), count);
  tests_ = lists_of(pairs_, others_.size() / (order - 1));
}

void Queries::set_others(const std::uint32_t* cell, std::uint32_t* others) const {
  for (std::size_t k = 0; k < order_; ++k)
    if (k != mode_) *others++ = cell[k];
}

void Queries::add_known(const std::uint32_t* cells, std::size_t count) {
  const std::size_t queries = others_.size() / (order_ - 1);
  std::vector<std::uint32_t> wanted(order_ - 1);
  for (std::size_t e = 0; e < count; ++e) {
    set_others(cells + e * order_, wanted.data());
    const std::size_t q = find_record({others_.data(), others_.size()}, order_ - 1, wanted.data());
    if (q == queries) continue;
    pairs_.push_back(static_cast<std::uint32_t>(q));
    pairs_.push_back(cells[e * order_ + mode_]);
  }
}

void Queries::finish_known() {
  known_ = lists_of(pairs_, size());
}

Queries::Lists Queries::lists_of(Buffer<std::uint32_t>& pairs, std::size_t queries) {
  sort_and_merge_records(pairs, 2);
  Lists lists;
  lists.begin.assign(queries + 1, 0);
  lists.entities.resize(pairs.size() / 2);
  for (std::size_t i = 0; i < pairs.size() / 2; ++i) {
    ++lists.begin[pairs[2 * i] + 1];
    lists.entities[i] = pairs[2 * i + 1];
  }
  for (std::size_t q = 0; q < queries; ++q) lists.begin[q + 1] += lists.begin[q];
  pairs = Buffer<std::uint32_t>();
  return lists;
}

}  // namespace ztp
