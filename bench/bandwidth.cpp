#include "bandwidth.hpp"

#include <algorithm>
#include <cstring>

#include "machine.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

std::size_t array_bytes(bool quick) {
  constexpr std::size_t MiB = std::size_t{1} << 20;
  if (quick) return 16 * MiB;
  return std::min(std::clamp(4 * last_cache_bytes(), 64 * MiB, 1024 * MiB), memory_bytes() / 8);
}

}  // namespace

Copy::Copy(Pool& pool, bool quick) : pool_(pool), from_(array_bytes(quick)), to_(array_bytes(quick)) {
  // Each thread is the first to touch what it will copy, so that it lies in memory near it. The bytes are no zeros,
  // which some systems keep only once.
  const Blocks parts{from_.size(), (from_.size() + pool.threads() - 1) / pool.threads()};
  pool.for_blocks(parts.count(), [&](std::size_t b) {
    const std::size_t begin = parts.begin(b), size = parts.end(b) - begin;
    std::memset(from_.data() + begin, 1, size);
    std::memset(to_.data() + begin, 2, size);
  });
}

void Copy::run() {
  const Blocks parts{from_.size(), (from_.size() + pool_.threads() - 1) / pool_.threads()};
  pool_.for_blocks(parts.count(), [&](std::size_t b) {
    const std::size_t begin = parts.begin(b);
    std::memcpy(to_.data() + begin, from_.data() + begin, parts.end(b) - begin);
  });
}

void bench_bandwidth(Suite& suite) {
  for (const unsigned threads : suite.thread_counts()) {
    Pool pool(threads);
    Copy copy(pool, suite.options.quick);
    const std::vector<Times> times = time_kernels({[&] { copy.run(); }}, suite.effort());
    suite.report.add({{"threads", threads}, {"array MiB", array_bytes(suite.options.quick) >> 20}},
                     {figure("GB per s", rate(copy.bytes_moved() / 1e9, times[0]))});
  }
}

}  // namespace ztp::bench
