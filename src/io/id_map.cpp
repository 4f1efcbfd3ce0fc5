#include "io/id_map.hpp"

#include <algorithm>

namespace ztp {
namespace {

constexpr std::uint64_t always_small = 1 << 20;

}  // namespace

IdMap::IdMap(std::vector<std::uint32_t> old_ids, std::vector<std::uint32_t> new_ids, std::uint32_t size) {
  if (old_ids.empty() || size > always_small + 16 * std::uint64_t{old_ids.size()}) {
    old_ids_ = std::move(old_ids);
    table_ = std::move(new_ids);
    return;
  }
  table_.assign(size, 0);
  for (std::size_t i = 0; i < old_ids.size(); ++i) table_[old_ids[i]] = new_ids[i];
}

std::uint32_t IdMap::search(std::uint32_t old_id) const {
  const auto place = std::lower_bound(old_ids_.begin(), old_ids_.end(), old_id);
  return place == old_ids_.end() || *place != old_id ? 0 : table_[static_cast<std::size_t>(place - old_ids_.begin())];
}

void IdMap::compose(const std::vector<std::uint32_t>& next) {
  for (std::uint32_t& id : table_) id = next[id];
}

std::vector<std::uint32_t> occurring_ids(const std::uint32_t* coords, std::size_t cells, std::size_t order,
                                         std::size_t k, std::uint32_t size) {
  std::vector<std::uint32_t> ids;
  if (size <= always_small + 32 * std::uint64_t{cells}) {
    std::vector<bool> occurs(size, false);
    for (std::size_t i = 0; i < cells; ++i) occurs[coords[i * order + k]] = true;
    for (std::uint32_t id = 0; id < size; ++id)
      if (occurs[id]) ids.push_back(id);
    return ids;
  }
  for (std::size_t i = 0; i < cells; ++i) ids.push_back(coords[i * order + k]);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace ztp
