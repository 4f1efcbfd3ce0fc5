// How the data are cut among the ranks of a job: the ones by a grid over the modes, and the rows of each matrix into
// shares that have one owner each. A rank's rows are among those that its part of the grid touches, so that most of
// what is exchanged stays between ranks of one slab.
#pragma once
#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "kernel/kernel.hpp"

namespace ztp {

// The rows of one matrix. Shares begin and end at multiples of rows_of_share, so that sums over groups of rows and
// places of counts are those of one process.
struct RowCut {
  struct Share {
    std::uint64_t begin, end;
    std::size_t owner;
  };
  std::vector<Share> shares;  // ascending, of all rows; a rank has at most one

  std::uint64_t rows() const { return shares.back().end; }
  Range of(std::size_t rank) const;  // empty, if it has none
  const Share& share_of(std::uint64_t row) const;
};

// Ranks are the cells of a grid. In mode k it has `slabs(k)` slabs of neighbouring rows with about as many ones each.
class Grid {
 public:
  Grid() = default;
  // ends[k]: where each slab of mode k ends.
  explicit Grid(std::vector<std::vector<std::uint64_t>> ends) : ends_(std::move(ends)) {}
  std::size_t modes() const { return ends_.size(); }
  std::size_t slabs(std::size_t k) const { return ends_[k].size(); }
  std::uint64_t slab_end(std::size_t k, std::size_t slab) const { return ends_[k][slab]; }
  std::size_t rank_of(const std::uint32_t* cell) const;
  std::size_t slab_of_rank(std::size_t k, std::size_t rank) const;

 private:
  std::vector<std::vector<std::uint64_t>> ends_;
};

struct Partition {
  std::size_t ranks = 1;
  FactorLayout layout;
  Grid grid;                       // of cells of the tensor
  std::vector<RowCut> cuts;        // of each matrix
  std::vector<std::int64_t> ones;  // of each rank
  double room = 0;                 // bytes for copies of rows of others, and for messages with them

  // The ones of the rank that has most, relative to the mean of all ranks.
  double busiest() const;
};

std::size_t rows_of_share(std::uint64_t all_rows);
// How many slabs of each mode there are: the longest mode is cut first.
std::vector<std::size_t> slabs_of_modes(const FactorLayout& layout, std::size_t ranks);
// The room worth using, if there is that much memory for copies and all else: few messages, and little compared with
// the rows and ones of a rank, or with the memory.
double room_for_copies(const FactorLayout& layout, std::size_t ones, std::size_t ranks, double memory);
// coords: of the ones of the tensor. All ranks see all of them; each looks at its share. memory: that this rank may
// use; that of the rank with least decides.
Partition make_partition(const FactorLayout& layout, const std::uint32_t* coords, std::size_t count, Comm& comm,
                         double memory);

}  // namespace ztp
