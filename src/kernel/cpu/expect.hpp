// Latent counts by their expectations, online.                                                                (M26)
#pragma once
#include <array>
#include <atomic>

#include "kernel/entry_draw.hpp"

namespace ztp::cpu {

// One thread at a time may add to a row: it has one of some locks.
class RowLocks {
 public:
  std::atomic_flag& of(const std::int64_t* row) {
    return flags_[reinterpret_cast<std::uintptr_t>(row) / 64 % flags_.size()];
  }

 private:
  std::array<std::atomic_flag, 4099> flags_;
};

// The expectations of the entries' latent counts, added into sums: what allocate does with DrawSettings::expected.
// (M26)
ExactSum expect(Pool& pool, const CountTask& task, const CountSums& sums);

}  // namespace ztp::cpu
