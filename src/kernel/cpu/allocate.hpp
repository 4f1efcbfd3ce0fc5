// Latent counts of entries in two passes: the first draws each entry's component, block by block of entries; the second adds them up,
// row by row of every mode.                                                                                   (M3), (M4)
#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

class Allocator {
 public:
  explicit Allocator(Pool& pool) : pool_(pool) {}
  // As Kernel::reserve and Kernel::allocate.
  void reserve(std::size_t entries);
  double allocate(const Entries& entries, const Rates& rates, const Streams& streams, const Sums& sums);

 private:
  Pool& pool_;
  Buffer<std::uint32_t> component_;  // of every entry, from the first pass to the second
};

}  // namespace ztp::cpu
