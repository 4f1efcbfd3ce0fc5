// A chain that has come to where a fit spends its time, with threads of its own.
#pragma once
#include <memory>

#include "base/pool.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/run_chains.hpp"

namespace ztp::bench {

class Sampling {
 public:
  // The prior, the start and the seed are those of `ztp fit` by default, without moves of the collapsed sampler.
  // After these sweeps components have found their ones, or have emptied.
  Sampling(const SparseTensor& tensor, std::size_t R, unsigned threads, int warm_up_sweeps = 20,
           KernelName kernel = KernelName::cpu);
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  BatchChain& chain() { return chain_; }
  double sweep();  // as a fit does it: of large ranks, the log-likelihood is computed now and then
  Pool& pool() { return pool_; }
  Kernel& kernel() { return *kernel_; }
  HostCells cells() const;
  double ones() const { return static_cast<double>(problem_.tensor->nnz()); }
  double draws() const;  // of gammas in a sweep: R sum_k n_k

  // Of the tensor, the parameters and the statistics. A fit takes this and what it reads and writes with.
  double bytes_held() const;
  // What a sweep moves at least, if nothing stayed in a cache from one step to the next: statistics are read, cleared
  // and written, parameters written and read, coordinates read.
  double bytes_moved() const;
  // What the allocation step reads, if every row of every one came from memory.
  double bytes_of_rows() const;

 private:
  Pool pool_;
  std::unique_ptr<Kernel> kernel_;
  Problem problem_;
  BatchChain chain_;
};

}  // namespace ztp::bench
