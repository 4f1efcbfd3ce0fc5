// Maps old ids of a mode to new ones.
#pragma once
#include <cstdint>
#include <vector>

namespace ztp {

// A table; or a sorted list, if the table would be mostly empty: a tiny file can announce two billion entities, and
// must not get memory for them. Ids that do not occur become 0.
class IdMap {
 public:
  IdMap() = default;  // ids stay as they are
  explicit IdMap(std::vector<std::uint32_t> table) : table_(std::move(table)) {}
  // `old_ids` sorted, below `size`; the new ones in the same order.
  IdMap(std::vector<std::uint32_t> old_ids, std::vector<std::uint32_t> new_ids, std::uint32_t size);

  bool empty() const { return table_.empty(); }
  std::uint32_t operator[](std::uint32_t old_id) const { return old_ids_.empty() ? table_[old_id] : search(old_id); }
  // Applies another map after this one: ids mapped to i are then mapped to next[i].
  void compose(const std::vector<std::uint32_t>& next);

 private:
  std::uint32_t search(std::uint32_t old_id) const;

  std::vector<std::uint32_t> old_ids_;  // empty: the table has all of them
  std::vector<std::uint32_t> table_;
};

// The distinct ids of mode k that occur in the cells, sorted. Needs memory for these ids, or one bit per entity if
// there are not many more entities than cells.
std::vector<std::uint32_t> occurring_ids(const std::uint32_t* coords, std::size_t cells, std::size_t order,
                                         std::size_t k, std::uint32_t size);

}  // namespace ztp
