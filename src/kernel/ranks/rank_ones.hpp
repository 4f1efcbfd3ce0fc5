// The cells of a rank, and the rows that they touch: whose rows these are, and copies of the factors and sums of counts
// of these rows alone. Where copies of all of them would take much memory, cells are worked on a chunk at a time.
#pragma once
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "kernel/kernel.hpp"
#include "kernel/ranks/cells_here.hpp"
#include "kernel/ranks/rank_arrays.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

// Into how many parts each mode is cut for the chunks of a rank (one of `ranks`, with its part of the ones), so that
// copies of the rows that a chunk touches, and messages with them, fit into `room` bytes.
std::vector<std::size_t> parts_of_modes(std::size_t ones, const FactorLayout& layout, std::size_t ranks, double room);

class RankOnes final : public Ones {
 public:
  // of_all: the cells of all ranks, of which no values are needed but numbers. All ranks make theirs together.
  // kernel: which computes with them.
  RankOnes(const HostCells& of_all, CellsHere here, const FactorLayout& layout, double room, const RankPlace& rank,
           PartKernel& kernel);
  std::size_t bytes() const override;

  std::size_t count_here() const { return cells_.place.size(); }
  // The places of the cells among those of all ranks, chunk by chunk.
  const std::vector<std::uint64_t>& cells_here() const { return cells_.place; }

  // As many on all ranks.
  std::size_t chunks() const { return chunks_.size(); }
  Range cells_of(std::size_t c) const { return chunks_[c].cells; }
  const Ones& ones_of(std::size_t c) const { return *chunks_[c].ones; }
  const std::uint32_t* coords_of(std::size_t c) const;  // by the rows that the chunk touches
  // The layout of the model with as many rows as a chunk touches.
  FactorLayout layout_here(const FactorLayout& layout) const { return layout.with_rows(rows_here_); }

  // Copies of the rows of these factors (of each matrix) that a chunk touches, from their owners. Between begin and end
  // there is time for other work, with the copies of the chunk before; then `fetched` replaces these.
  void begin_fetch(std::size_t c, const std::vector<const Factors*>& factors, Pool& pool) const;
  void end_fetch() const { comm_.end_exchange(); }
  std::vector<Factors*> fetched(std::size_t c, const std::vector<const Factors*>& factors, Pool& pool) const;
  // Sums of counts in the touched rows, each matrix's with so many columns: room to add to.
  std::vector<Counts*> sums_here(const std::vector<Counts*>& of_all) const;
  // Adds what a chunk has there to the sums of the owners, where no column of matrix f gets more than most[f] in all.
  void give_back(std::size_t c, const std::vector<Counts*>& of_all, const std::vector<std::int64_t>& most,
                 Pool& pool) const;

 private:
  // Of a chunk and a matrix: which rows it touches, whose they are, and which of this rank's own others ask for.
  struct Plan {
    std::vector<std::uint32_t> touched;  // ascending; until owners know
    std::vector<std::uint64_t> from;     // touched rows from[owner] .. to[owner]-1 are that rank's
    std::vector<std::uint64_t> to;
    std::vector<std::vector<std::uint32_t>> give;  // by its own numbers, for each rank
  };
  struct Chunk {
    Range cells;
    std::unique_ptr<Ones> ones;
    mutable std::vector<Plan> plans;  // of each matrix
  };
  std::vector<Range> cut_into_chunks(const std::vector<std::size_t>& parts);
  void make_chunk(Chunk& chunk, const FactorLayout& layout);
  void plan(Plan& plan, const RowCut& cut) const;
  void add_own_rows(const Plan& plan, const HostCounts& here, HostCounts& own, Pool& pool) const;
  // Calls body(piece) for blocks of rows of a message to or from each rank, the rows of one matrix after those of
  // another.
  struct Piece {
    std::size_t matrix, rank;
    Range rows;
    std::uint64_t offset;
  };
  template <class RowsOf, class Body>
  void for_pieces(const std::vector<std::uint64_t>& begin, const RowsOf& rows_of, Pool& pool, const Body& body) const;

  Comm& comm_;
  PartKernel& kernel_;
  const bool elsewhere_;
  CellsHere cells_;  // coords: by the rows that the chunk of the cell touches
  std::vector<std::uint64_t> numbers_;
  std::vector<std::size_t> rows_here_;  // of each matrix: the most that a chunk touches
  std::vector<Chunk> chunks_;
  // Of one chunk at a time: on the host, and, if it is elsewhere, where the kernel computes.
  mutable std::vector<std::unique_ptr<Factors>> factors_, factors_there_;
  mutable std::vector<std::unique_ptr<Counts>> counts_, counts_there_;
  struct Message {
    Buffer<std::byte> send, receive;
    void make_room(std::size_t sent, std::size_t received) {
      for (const auto& [buffer, bytes] : {std::pair{&send, sent}, {&receive, received}}) {
        if (buffer->size() >= bytes) continue;
        *buffer = {};  // first: what is in it is not needed
        *buffer = Buffer<std::byte>(bytes);
      }
    }
  };
  mutable Message fetched_, given_;
  mutable std::vector<std::uint64_t> fetched_at_;  // where what came from each rank begins
};

}  // namespace ztp
