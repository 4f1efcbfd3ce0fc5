// A kernel for a chain that several processes share: each has a part of the ones and of the rows (row_cut.hpp). All of
// them call the same operations, and what is of size R is the same on all.
#pragma once
#include <memory>

#include "comm/comm.hpp"
#include "kernel/part_kernel.hpp"
#include "kernel/ranks/row_cut.hpp"

namespace ztp {

// Keeps references to both. Cells that are uploaded are the same on all ranks, and each takes its part of them.
// elsewhere: draws latent counts and columns of factors and computes scores, with rows and sums of counts that come
// from and go to the host; null: the kernel of the CPU does. All ranks have one of the same kind.
std::unique_ptr<Kernel> make_ranks_kernel(Comm& comm, Pool& pool, Partition partition,
                                          std::unique_ptr<PartKernel> elsewhere = nullptr);

}  // namespace ztp
