#include "kernel/cpu/limits.hpp"

#include <numeric>

#include "kernel/cpu/allocate.hpp"

namespace ztp::cpu {

double read_and_multiply(Pool& pool, const Entries& entries, const Rates& rates) {
  std::vector<double> z(entries.count);
  score(pool, entries.coords, entries.count, rates, z.data());
  return std::accumulate(z.begin(), z.end(), 0.0);
}

}  // namespace ztp::cpu
