#pragma once
#include <memory>

#include "kernel/part_kernel.hpp"

namespace ztp {

// Computes on one GPU: the first, or, where MPI has started several processes, theirs in turn. Throws Error (config),
// if there is none or libztp_cuda.so is not there.
std::unique_ptr<PartKernel> make_cuda_kernel();
// Whether that would work.
bool has_cuda();
// What else the memory of a GPU depends on.
struct GpuUse {
  bool counts = false, wide = false;  // of the ones, and counts of 64 bits
  std::size_t ranks = 1;              // that share the chain; each has its part of the ones and rows,
  double room = 0;                    // and copies of others' rows (kernel/ranks/row_cut.hpp)
  double part_of_columns = 1;         // with fewer columns
};
// Of the arrays of a chain of so many ones at once, or of the part of one of several ranks.
double gpu_bytes(const FactorLayout& layout, std::uint64_t ones, const GpuUse& use);
// Throws Error (config), if that is more than the GPU has free, or has for each of several processes: with what is
// needed, and with the rank that would fit, if it is one of CP.
void require_gpu_memory(const FactorLayout& layout, std::uint64_t ones, GpuUse use);

}  // namespace ztp
