// Kernels of several processes, as threads, and the kernel of one that must make the same draws.
#pragma once
#include <functional>
#include <limits>

#include "kernel/cpu/cpu_kernel.hpp"
#include "kernel/ranks/ranks_kernel.hpp"
#include "kernels.hpp"
#include "thread_comm.hpp"

namespace ztp::test {

// What ranks compute with: `cpu`, the same where its arrays are out of reach, and `cuda` where there is a GPU.
inline std::vector<std::string> rank_kernel_names() {
  std::vector<std::string> names = {"cpu", "elsewhere"};
  if (has_cuda()) names.push_back("cuda");
  return names;
}

inline std::unique_ptr<Kernel> make_alone(const std::string& name, Pool& pool) {
  return make_kernel(name == "cuda" ? KernelName::cuda : KernelName::cpu, pool);
}

inline std::unique_ptr<Kernel> make_of_ranks(const std::string& name, Comm& comm, Pool& pool,
                                             const Partition& partition) {
  std::unique_ptr<PartKernel> elsewhere;
  if (name == "elsewhere") elsewhere = std::make_unique<ElsewhereKernel>(make_cpu_kernel(pool));
  if (name == "cuda") elsewhere = make_cuda_kernel();
  return make_ranks_kernel(comm, pool, partition, std::move(elsewhere));
}

// make(kernel, comm) of one process and of several, which must return the same on all ranks.
// cells: of the tensor. memory: of a rank; little of it makes for many chunks.
inline void expect_same_on_ranks(const std::string& what, const std::string& name, const FactorLayout& layout,
                                 const std::vector<std::uint32_t>& coords,
                                 const std::function<std::string(Kernel&, Comm&)>& make, double memory = 1e12) {
  Pool alone(1);
  const auto kernel = make_alone(name, alone);
  const auto comm = single_comm();
  const std::string wanted = make(*kernel, *comm);
  for (const std::size_t ranks : {1, 2, 3, 5}) {
    std::vector<std::string> got(ranks);
    on_ranks(ranks, [&](Comm& of) {
      Pool pool(1 + of.rank() % 2);
      const Partition partition = make_partition(layout, coords.data(), coords.size() / layout.modes(), of, memory);
      got[of.rank()] = make(*make_of_ranks(name, of, pool, partition), of);
    });
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_TRUE(got[rank] == wanted) << what << ", " << name << ", rank " << rank << " of " << ranks;
  }
}

}  // namespace ztp::test
