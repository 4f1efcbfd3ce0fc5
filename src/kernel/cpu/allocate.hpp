// Latent counts of entries in two passes: the first draws each entry's component, block by block of entries; the second
// adds them up, row by row of every mode.                                                                  (M3), (M4)
#pragma once
#include "kernel/entry_draw.hpp"

namespace ztp::cpu {

struct Drawn;

// Entries that are drawn together with those of other groups.
struct EntryGroup {
  const HostOnes& ones;
  const HostRates& rates;
  const CountSums& sums;
  Allocation* parts = nullptr;   // result, if it is not null
  ExactSum log_likelihood = {};  // result
};

class Allocator {
 public:
  explicit Allocator(Pool& pool) : pool_(pool) {}
  // As in Kernel.
  void reserve(std::size_t entries);
  void allocate(std::span<EntryGroup> groups, const Streams& streams, const DrawSettings& settings);
  void allocate_at_random(const HostOnes& ones, const Streams& streams, const CountSums& sums);
  // Bytes that it takes for so many entries, with the bounds on their rates.
  static std::size_t bytes(std::size_t entries, const FactorLayout& layout);

 private:
  // Blocks of entries, of which the first is the entry `first` of component_.
  std::vector<Drawn> blocks_of(std::size_t count, std::size_t first = 0);

  Pool& pool_;
  Buffer<std::uint32_t> component_;  // of every entry, from the first pass to the second
};

}  // namespace ztp::cpu
