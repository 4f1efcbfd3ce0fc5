// The ones of a rank that has memory in common with the other ranks of its chain. Factors are read where their owners
// draw them, and the owners of rows read the components that others have drawn: what threads of one process do. No rows
// travel.
#pragma once
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "comm/shared_memory.hpp"
#include "kernel/cpu/allocate.hpp"
#include "kernel/ranks/cells_here.hpp"
#include "kernel/ranks/rank_arrays.hpp"
#include "kernel/ranks/rank_ones.hpp"

namespace ztp {

// A whole matrix in common memory, of which each rank writes its own rows.
class SharedFactors final : public RankFactors {
 public:
  SharedFactors(const RankPlace& of, const RowCut& cut, std::size_t columns, RowPlace place,
                std::unique_ptr<SharedMemory> memory);
  // Rows of all ranks. They must have been drawn: after a barrier.
  Matrix<float> rows_of_all(Range rows) const;

 private:
  std::unique_ptr<SharedMemory> memory_;
};

class SharedOnes final : public Ones {
 public:
  // Whether these are all ones of a chain, and counts of their rows can be added up by an index.
  static bool suits(const HostCells& cells, const FactorLayout& layout, const Partition& partition);
  // All ranks make theirs together. Null on all of them, if they have no memory in common; then `here` is left alone.
  static std::unique_ptr<SharedOnes> make(const HostCells& of_all, CellsHere& here, const FactorLayout& layout,
                                          const Partition& partition, Comm& comm, Pool& pool);
  std::size_t bytes() const override;

  const HostCells& of_all() const { return of_all_; }
  const std::vector<std::uint64_t>& cells_here() const { return cells_.place; }
  // The same ones for what needs messages: made when it is first asked for.
  mutable std::unique_ptr<RankOnes> by_messages;

  // As Kernel::allocate and allocate_at_random, but not for expected counts. parts: of the ones here.
  ExactSum allocate(const Rates& rates, StreamKey key, const DrawSettings& settings, const CountSums& sums,
                    cpu::Allocator& allocator, Pool& pool) const;
  void allocate_at_random(StreamKey key, const CountSums& sums, cpu::Allocator& allocator, Pool& pool) const;

 private:
  SharedOnes(const HostCells& of_all, CellsHere here, const FactorLayout& layout, const Partition& partition,
             Comm& comm);
  void index_own_rows(const std::vector<std::uint64_t>& counts, const std::uint32_t* coords, const FactorLayout& layout,
                      Pool& pool);
  std::vector<const Factors*> factors_here(const std::vector<const Factors*>& of_all, Pool& pool) const;
  // The components that this rank has drawn, and those of all, to the rows of their owners.
  void add_up(std::span<cpu::Drawn> drawn, const DrawSettings& settings, const CountSums& sums,
              ExactSum& log_likelihood, cpu::Allocator& allocator, Pool& pool) const;
  cpu::Components of_ones_here() const { return {of_all_ones_.component + first_, of_all_ones_.unit + first_}; }
  // Counts of ones that have not one unit. They go to the owners by message.
  struct Extra {
    std::uint32_t row, column;  // of the owner's
    std::int64_t count;
  };
  using Extras = std::vector<std::vector<Extra>>;  // to each rank, of each matrix
  Extras take_extras(cpu::Drawn& drawn, const DrawSettings& settings, const FactorLayout& layout) const;
  void begin_sending(const std::vector<Extras>& extras) const;
  void add_received(const std::vector<Counts*>& sums) const;

  const HostCells of_all_;
  const Partition& partition_;
  Comm& comm_;
  CellsHere cells_;          // coords: from the first row of slab_ on
  std::vector<Range> slab_;  // of each matrix: the rows that ones here may be in
  std::vector<std::size_t> rows_of_slab_;
  std::unique_ptr<HostOnes> ones_;
  std::vector<RowIndex> by_row_;  // of own rows: all ones in them, by their place in of_all_ones_
  std::unique_ptr<SharedMemory> memory_;
  cpu::Components of_all_ones_ = {};  // those of a rank after those of another
  std::size_t first_ = 0;             // of those here
  mutable std::vector<std::unique_ptr<HostFactors>> factors_;
  mutable std::vector<std::uint64_t> sent_, received_;  // bytes, to and from each rank of each matrix
  mutable Buffer<std::byte> to_others_, from_others_;
};

// What no count of matrix f is more than, from the totals of all components.
std::vector<std::int64_t> most_counts(const FactorLayout& layout, const std::vector<std::int64_t>& totals);

}  // namespace ztp
