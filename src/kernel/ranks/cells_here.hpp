// Which cells belong to a rank: those of the tensor by the grid, others in equal parts.
#pragma once
#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "kernel/kernel.hpp"
#include "kernel/ranks/row_cut.hpp"

namespace ztp {

// Cells of one rank: copies, and the place of each among all cells.
struct CellsHere {
  std::vector<std::uint64_t> place;
  std::vector<std::uint32_t> coords;
  std::vector<std::int64_t> observed;  // of counts
};

// Those of this rank, in their order. Each rank reads an equal part of cells that are indexed (the ones of the tensor),
// and sends them to the ranks that they belong to: all ranks must ask together. Of other cells it reads all.
CellsHere cells_here(const HostCells& cells, const FactorLayout& layout, const Partition& partition, Comm& comm);

}  // namespace ztp
