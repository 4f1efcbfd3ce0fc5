// How a fit uses its threads: all of them for one chain after the other, or for several chains side by side. The draws
// do not depend on it.
#pragma once
#include <cstdint>

#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

struct ThreadPlan {
  unsigned chains = 1;   // at the same time
  unsigned threads = 1;  // of each
};

// So many threads for a fit, memory aside. Chains run side by side where one cannot use all threads: its sweep is
// short, or serial for the most part. Online chains and those of rivals run one after the other.
ThreadPlan plan_threads(const FitOptions& complete, const Dataset& data);
// The same with fewer chains at a time. A chain that would have little to do for its threads gets fewer.
ThreadPlan plan_threads(const FitOptions& complete, const Dataset& data, unsigned chains);

// How many threads are of use, all chains at the same time together; no more than there are cores. What --threads is if
// it is not given.
std::int64_t useful_threads(const FitOptions& options, const Dataset& data);

}  // namespace ztp
