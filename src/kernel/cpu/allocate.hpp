// Latent counts of entries in two passes: the first draws each entry's component, block by block of entries; the second
// adds them up, row by row of every mode.                                                                  (M3), (M4)
#pragma once
#include "kernel/entry_draw.hpp"

namespace ztp::cpu {

struct Drawn;

class Allocator {
 public:
  explicit Allocator(Pool& pool) : pool_(pool) {}
  // As in Kernel.
  void reserve(std::size_t entries);
  double allocate(const HostOnes& ones, const HostRates& rates, const Streams& streams, const DrawSettings& settings,
                  const CountSums& sums);
  void allocate_at_random(const HostOnes& ones, const Streams& streams, const CountSums& sums);
  // Bytes that it takes for so many entries, with the bounds on their rates.
  static std::size_t bytes(std::size_t entries, const FactorLayout& layout);

 private:
  std::vector<Drawn> blocks_of(std::size_t count);

  Pool& pool_;
  Buffer<std::uint32_t> component_;  // of every entry, from the first pass to the second
};

}  // namespace ztp::cpu
