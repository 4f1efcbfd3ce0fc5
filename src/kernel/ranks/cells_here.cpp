#include "kernel/ranks/cells_here.hpp"

#include <algorithm>
#include <numeric>

namespace ztp {
namespace {

bool are_of_tensor(const FactorLayout& layout, const Partition& partition) {
  if (layout.modes() != partition.grid.modes()) return false;
  for (std::size_t k = 0; k < layout.modes(); ++k)
    if (layout.size_of_mode(k).rows != partition.layout.size_of_mode(k).rows) return false;
  return true;
}

// Cells as they travel: coordinates, place, and the observed count if there are any.
CellsHere exchange_cells(const HostCells& cells, std::size_t K, const Grid& grid, Comm& comm) {
  constexpr std::size_t at_once = std::size_t{1} << 18;  // of each rank
  const std::size_t ranks = comm.size(), words = K + 2 + (cells.observed == nullptr ? 0 : 2);
  CellsHere here;
  for (std::size_t begin = 0; begin < cells.count; begin += ranks * at_once) {
    const std::size_t first = std::min(begin + comm.rank() * at_once, cells.count);
    std::vector<std::vector<std::uint32_t>> to_ranks(ranks);
    for (std::size_t e = first; e < std::min(first + at_once, cells.count); ++e) {
      std::vector<std::uint32_t>& to = to_ranks[grid.rank_of(cells.coords + e * K)];
      const auto add = [&](std::uint64_t value) {
        to.insert(to.end(), {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)});
      };
      to.insert(to.end(), cells.coords + e * K, cells.coords + (e + 1) * K);
      add(e);
      if (cells.observed != nullptr) add(static_cast<std::uint64_t>(cells.observed[e]));
    }
    std::vector<std::uint64_t> to_each, from_each(ranks);
    std::vector<std::uint32_t> packed;
    for (const auto& to_rank : to_ranks) {
      to_each.push_back(4 * to_rank.size());
      packed.insert(packed.end(), to_rank.begin(), to_rank.end());
    }
    comm.exchange_sizes(to_each.data(), from_each.data());
    std::vector<std::uint32_t> received(std::accumulate(from_each.begin(), from_each.end(), std::uint64_t{0}) / 4);
    comm.exchange(packed.data(), to_each.data(), received.data(), from_each.data());
    for (std::size_t i = 0; i < received.size(); i += words) {
      const std::uint32_t* const cell = received.data() + i;
      const auto wide = [&](std::size_t at) { return cell[at] | std::uint64_t{cell[at + 1]} << 32; };
      here.coords.insert(here.coords.end(), cell, cell + K);
      here.place.push_back(wide(K));
      if (cells.observed != nullptr) here.observed.push_back(static_cast<std::int64_t>(wide(K + 2)));
    }
  }
  here.coords.shrink_to_fit();
  here.place.shrink_to_fit();
  here.observed.shrink_to_fit();
  return here;
}

}  // namespace

CellsHere cells_here(const HostCells& cells, const FactorLayout& layout, const Partition& partition, Comm& comm) {
  const std::size_t K = layout.modes(), ranks = comm.size(), rank = comm.rank();
  const bool of_tensor = are_of_tensor(layout, partition);
  if (of_tensor && cells.indexed) return exchange_cells(cells, K, partition.grid, comm);
  CellsHere here;
  const auto take = [&](std::size_t e) {
    here.place.push_back(e);
    here.coords.insert(here.coords.end(), cells.coords + e * K, cells.coords + (e + 1) * K);
    if (cells.observed != nullptr) here.observed.push_back(cells.observed[e]);
  };
  if (of_tensor) {
    for (std::size_t e = 0; e < cells.count; ++e)
      if (partition.grid.rank_of(cells.coords + e * K) == rank) take(e);
  } else {
    for (std::size_t e = cells.count * rank / ranks; e < cells.count * (rank + 1) / ranks; ++e) take(e);
  }
  return here;
}

}  // namespace ztp
