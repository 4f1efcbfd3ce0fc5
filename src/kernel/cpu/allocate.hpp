// Latent counts of entries in two passes: the first draws each entry's component, block by block of entries; the second
// adds them up, row by row of every mode.                                                                  (M3), (M4)
#pragma once
#include <span>

#include "kernel/cpu/draw_block.hpp"

namespace ztp::cpu {

// Entries that are drawn together with those of other groups.
struct EntryGroup {
  const HostOnes& ones;
  const HostRates& rates;
  const CountSums& sums;
  Allocation* parts = nullptr;   // result, if it is not null
  ExactSum log_likelihood = {};  // result
};

// Where entries write what they draw: Drawn::component and Drawn::unit of the first.
struct Components {
  std::uint32_t* component;
  std::uint8_t* unit;
};

class Allocator {
 public:
  explicit Allocator(Pool& pool) : pool_(pool) {}
  // As in Kernel.
  void reserve(std::size_t entries);
  void allocate(std::span<EntryGroup> groups, const Streams& streams, const DrawSettings& settings);
  void allocate_at_random(const HostOnes& ones, const Streams& streams, const CountSums& sums);
  // The two passes apart, for processes that share memory. The first: what the entries of one process draw, until the
  // next call.
  std::span<Drawn> draw(EntryGroup& group, const Streams& streams, const DrawSettings& settings, const Components& to);
  std::span<Drawn> draw_at_random(const HostOnes& ones, const Streams& streams, std::size_t R, const Components& to);
  // The second: for each matrix, the rows of one process. by_row: of these rows, the entries of all processes. None has
  // `several` parts.
  void add(const std::vector<RowIndex>& by_row, const Components& of_all, const DrawSettings& settings,
           const CountSums& sums);
  // Bytes that it takes for so many entries, with the bounds on their rates.
  static std::size_t bytes(std::size_t entries, const FactorLayout& layout);

 private:
  Components room_for(std::size_t entries);  // of its own
  std::span<Drawn> blocks_of(std::size_t count, const Components& to, std::size_t first_block = 0);
  void make_blocks(std::size_t blocks);

  Pool& pool_;
  Buffer<std::uint32_t> component_;  // of every entry, from the first pass to the second
  Buffer<std::uint8_t> unit_;        // the same in bytes
  std::vector<Drawn> drawn_;         // blocks; kept, so that what each of them has allocated serves again
};

}  // namespace ztp::cpu
