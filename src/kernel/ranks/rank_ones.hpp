// The cells of a rank, and the rows that they touch: whose rows these are, and copies of the factors and sums of counts
// of these rows alone.
#pragma once
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "kernel/kernel.hpp"
#include "kernel/ranks/rank_arrays.hpp"

namespace ztp {

class RankOnes final : public Ones {
 public:
  // mine: which of the cells are this rank's, ascending. Copies what it needs of them.
  RankOnes(const HostCells& cells, std::vector<std::size_t> mine, const FactorLayout& layout, Comm& comm, Kernel& host);
  std::size_t bytes() const override;

  std::size_t count_here() const { return mine_.size(); }
  // Which of the cells these are.
  const std::vector<std::size_t>& cells_here() const { return mine_; }
  const std::uint32_t* coords_here() const { return coords_.data(); }  // by touched rows
  const Ones& here() const { return *here_; }
  // The layout of the model with the touched rows alone.
  FactorLayout layout_here(const FactorLayout& layout) const;

  // Copies of the touched rows of these factors (of each matrix), from their owners.
  std::vector<const Factors*> fetch(const std::vector<const Factors*>& factors, Pool& pool) const;
  // Sums of counts in the touched rows, each matrix's with so many columns: room to add to, all zero.
  std::vector<Counts*> sums_here(const std::vector<Counts*>& of_all) const;
  // Adds them to those of the owners, where no column of matrix f gets more than most[f] in all.
  void give_back(const std::vector<Counts*>& of_all, const std::vector<std::int64_t>& most, Pool& pool) const;

 private:
  // Of a matrix: which rows this rank touches, and which of its own rows others do.
  struct Plan {
    std::vector<std::uint64_t> from;  // touched rows from[owner] .. to[owner]-1 are that rank's
    std::vector<std::uint64_t> to;
    std::vector<std::vector<std::uint32_t>> give;  // of its own, for each rank
  };
  void plan(std::size_t f, const RowCut& cut) const;

  Comm& comm_;
  Kernel& host_;
  std::vector<std::size_t> mine_;
  std::vector<std::uint32_t> coords_;
  std::vector<std::int64_t> observed_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::vector<std::uint32_t>> touched_;  // of each matrix, ascending
  std::unique_ptr<Ones> here_;
  mutable std::vector<Plan> plans_;  // of each matrix, when first needed
  mutable std::vector<std::unique_ptr<Factors>> factors_;
  mutable std::vector<std::unique_ptr<Counts>> counts_;
  mutable std::vector<std::byte> send_, receive_;
};

}  // namespace ztp
