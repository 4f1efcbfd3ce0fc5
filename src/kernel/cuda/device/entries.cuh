// What the kernels that draw latent counts share: where counts are added, lists of entries, sums of log-likelihoods.
#pragma once
#include "kernel/cuda/device/common.cuh"

namespace ztp::cuda {

constexpr unsigned entry_threads = 256;  // of a block

__device__ inline void add_total(const DrawTask& task, std::uint32_t r, std::int64_t count) {
  atomicAdd(reinterpret_cast<unsigned long long*>(task.totals) + r, static_cast<unsigned long long>(count * task.unit));
}

// A part of an entry in the list of parts, if there is one.
__device__ inline void list_part(const DrawTask& task, std::uint64_t e, std::uint32_t r, std::int64_t count,
                                 std::uint32_t order) {
  if (task.parts == nullptr) return;
  const std::uint64_t place = atomicAdd(reinterpret_cast<unsigned long long*>(&task.header->parts), 1ull);
  if (place < task.most_parts) task.parts[place] = {static_cast<std::uint32_t>(e), r, order, count};
}

// A count of component r of entry e: in all modes, in the totals and in the list of parts.
__device__ inline void add_part(const DrawTask& task, std::uint64_t e, std::uint32_t r, std::int64_t count,
                                std::uint32_t order) {
  const std::uint32_t* cell = task.cells.coords + e * task.rates.K;
  for (std::uint32_t k = 0; k < task.rates.K; ++k) {
    const ModeArrays& mode = task.rates.mode[k];
    add_to(mode.counts, mode.wide,
           static_cast<std::uint64_t>(cell[k]) * mode.stride + (mode.column == nullptr ? r : mode.column[r]),
           count * task.unit);
  }
  add_total(task, r, count);
  list_part(task, e, r, count, order);
}

// Its number among all.
__device__ inline std::uint64_t number_of(const CellArrays& cells, std::uint64_t e) {
  return cells.numbers == nullptr ? cells.first + e : __ldg(cells.numbers + e);
}

__device__ inline double log_likelihood_of(const CellArrays& cells, double z, double log_z, std::int64_t y) {
  if (cells.missing) return z;
  if (cells.observed != nullptr) return static_cast<double>(y) * log_z - log_factorial(static_cast<double>(y));
  return z < 1e-300 ? log_z : log_expm1(z);
}

__device__ inline void add_units_to(DrawnHeader* header, std::int64_t high, std::uint64_t low) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&header->high), static_cast<unsigned long long>(high));
  atomicAdd(reinterpret_cast<unsigned long long*>(&header->low), static_cast<unsigned long long>(low));
}

// A term of so many units that sums of a thread might not hold it: of a very large count.
__device__ __noinline__ inline void add_large_term(DrawnHeader* header, double term) {
  if (!(fabs(term) < 0x1p58)) {
    atomicAdd(&header->rest, term);
    return;
  }
  const double high = floor(term * 0x1p-4);  // of 2^32 units of 2^-28
  add_units_to(header, __double2ll_rn(high), static_cast<std::uint64_t>(__double2ll_rn((term - 16 * high) * 0x1p28)));
}

// Log-likelihoods as whole numbers of units, as base/exact_sum.hpp has them: their sum is the same in any order, and so
// for any part of the entries that a process may have.
struct LikelihoodSum {
  long long units = 0;
  __device__ void add(const DrawTask& task, double term) {
    if (fabs(term) < 0x1p13)
      units += __double2ll_rn(term * 0x1p28);
    else
      add_large_term(task.header, term);
  }
  // All threads of a block, when they are through.
  __device__ void flush(const DrawTask& task) const {
    __shared__ long long of_warp[entry_threads / 32];
    long long sum = units;
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned w = 1; w < entry_threads / 32; ++w) sum += of_warp[w];
    if (sum != 0) add_units_to(task.header, sum >> 32, static_cast<std::uint64_t>(sum & 0xffffffffll));
  }
};

// The count of an entry with rate z. Not inlined: rejection takes many registers, and few threads come to it.
__device__ __noinline__ inline std::int64_t draw_count(Stream& stream, const CellArrays& cells, std::uint64_t e,
                                                       double z) {
  if (cells.missing) return draw_poisson(stream, z);
  return cells.observed != nullptr ? cells.observed[e] : draw_zero_truncated_poisson(stream, z);
}

// Whether the units of an entry are searched for one by one, as kernel/entry_draw.hpp has it; and their order in the
// list of parts: observed counts come component by component.
constexpr std::int64_t most_searched = 128;
__device__ inline bool is_searched(const CellArrays& cells, std::int64_t y) {
  return y <= (cells.observed != nullptr ? most_searched : most_searched_units);
}
__device__ inline std::uint32_t order_of_unit(const CellArrays& cells, std::uint32_t r, std::int64_t unit) {
  return cells.observed != nullptr ? r : static_cast<std::uint32_t>(unit);
}

// draw_multinomial from the shares of components, where all threads that come here together draw the same numbers or
// each has an entry of its own.
template <class Share, class Add>
__device__ void split_by_binomials(Stream& stream, std::int64_t total, std::uint32_t R, const Share& share,
                                   const Add& add) {
  double left = 0;
  for (unsigned lane = 0; lane < group_size; ++lane)
    for (std::uint32_t r = lane; r < R; r += group_size) left += share(r);
  const double negligible = left * 0x1p-54 / static_cast<double>(total);
  std::uint32_t last = 0;
  for (unsigned lane = 0; lane < group_size; ++lane)
    for (std::uint32_t r = lane; r < R; r += group_size)
      if (share(r) > negligible) last = r;
  std::uint32_t order = 0;
  for (unsigned lane = 0; lane < group_size; ++lane)
    for (std::uint32_t r = lane; r < R && total > 0; r += group_size) {
      const double of_component = share(r);
      if (of_component <= negligible) continue;
      const double p = r == last ? 1.0 : of_component / left;
      const std::int64_t part = p >= 1.0 ? total : draw_binomial(stream, total, p);
      if (part > 0) add(r, part, order++);
      total -= part;
      left -= of_component;
    }
}

// A task whose weights are those that make up for factors which are still to be scaled (begin_draw has made them).
DrawTask with_own_weights(DrawTask task);
int begin_draw(const DrawTask& task);
void launch_expected(const DrawTask& task, unsigned blocks);

}  // namespace ztp::cuda
