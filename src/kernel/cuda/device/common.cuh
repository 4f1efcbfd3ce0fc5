// What the kernels of the device share: a group of 16 threads for each cell, thread l having the components l, l + 16,
// l + 32, ..., in whose order a categorical draw is searched (search_order).
#pragma once
#include <cuda_runtime.h>

#include "kernel/cuda/device_api.hpp"
#include "model/distributions.hpp"

namespace ztp::cuda {

constexpr unsigned group_size = 16;

// Remembers what failed, for Api::error. Returns whether it did.
int failed(cudaError_t status);
cudaStream_t stream();
cudaError_t use_device();  // in a thread of its own
int multiprocessors();

inline unsigned blocks_for(std::uint64_t work, unsigned per_block, unsigned blocks_per_processor) {
  const std::uint64_t wanted = (work + per_block - 1) / per_block;
  const std::uint64_t most = static_cast<std::uint64_t>(multiprocessors()) * blocks_per_processor;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

// n / divisor and n % divisor of n below 2^31 by a multiplication: a division of integers takes dozens of instructions.
struct Divider {
  std::uint32_t divisor = 1, magic = 0, shift = 0;
  Divider() = default;
  explicit Divider(std::uint32_t by) : divisor(by) {
    while ((std::uint64_t{1} << shift) < by) ++shift;
    magic = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - by)) / by + 1);
  }
  __device__ std::uint32_t quotient(std::uint32_t n) const { return (__umulhi(n, magic) + n) >> shift; }
};

struct Group {
  unsigned l;     // thread of the group
  unsigned mask;  // of its threads in the warp

  __device__ Group() : l(threadIdx.x % group_size), mask(0xffffu << (threadIdx.x % 32 / group_size * group_size)) {}
  template <class T>
  __device__ T from(T value, unsigned thread) const {
    return __shfl_sync(mask, value, static_cast<int>(thread), group_size);
  }
  // What the threads before this one and this one have together.
  __device__ float running_sum(float value) const {
    for (unsigned step = 1; step < group_size; step *= 2) {
      const float before = __shfl_up_sync(mask, value, step, group_size);
      if (l >= step) value += before;
    }
    return value;
  }
  __device__ double sum(double value) const {
    for (unsigned step = group_size / 2; step > 0; step /= 2) value += __shfl_xor_sync(mask, value, step, group_size);
    return value;
  }
  __device__ double largest(double value) const {
    for (unsigned step = group_size / 2; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(mask, value, step, group_size);
      value = other > value ? other : value;
    }
    return value;
  }
  // Of the threads for which `condition` holds, bit l for thread l.
  __device__ unsigned which(bool condition) const {
    return (__ballot_sync(mask, condition) & mask) >> (threadIdx.x % 32 / group_size * group_size);
  }
};

__device__ inline float factor(const ModeArrays& mode, std::uint32_t row, std::uint32_t r) {
  return __ldg(mode.u + static_cast<std::uint64_t>(row) * mode.stride + (mode.column == nullptr ? r : mode.column[r]));
}

__device__ inline float product(const RateArrays& rates, const std::uint32_t* cell, std::uint32_t r) {
  float value = rates.weight[r];
  for (std::uint32_t k = 0; k < rates.K; ++k) value *= factor(rates.mode[k], cell[k], r);
  return value;
}

// log of the part of z that component r has.
__device__ inline double log_product(const RateArrays& rates, const std::uint32_t* cell, std::uint32_t r) {
  double value = rates.log_weight[r] - rates.log_volume;
  for (std::uint32_t k = 0; k < rates.K; ++k) value += log(static_cast<double>(factor(rates.mode[k], cell[k], r)));
  return value;
}

// log z in double precision, and the largest of its parts. Not a number or infinite where there is none.
__device__ inline double log_rate(const Group& group, const RateArrays& rates, const std::uint32_t* cell,
                                  double& largest) {
  largest = -INFINITY;
  bool bad = false;
  for (std::uint32_t r = group.l; r < rates.R; r += group_size) {
    const double value = log_product(rates, cell, r);
    bad = bad || isnan(value);
    largest = value > largest ? value : largest;
  }
  if (group.which(bad) != 0) return NAN;
  largest = group.largest(largest);
  if (!(largest > -INFINITY && largest < INFINITY)) return largest;
  double sum = 0;
  for (std::uint32_t r = group.l; r < rates.R; r += group_size) sum += exp(log_product(rates, cell, r) - largest);
  return largest + log(group.sum(sum));
}

// As kernel/entry_draw.hpp has it.
constexpr double smallest_float_rate = 1e-18, smallest_rate = 1e-150, log_smallest_mean = -40;
__device__ inline bool floats_hold(double sum, double z) {
  return sum > smallest_float_rate && sum < 1e30 && z > smallest_rate;
}
__device__ inline double log_expm1(double z) {
  return z > 30 ? z + log1p(-exp(-z)) : log(expm1(z));
}

__device__ inline void add_to(void* counts, bool wide, std::uint64_t place, std::int64_t value) {
  if (wide)
    atomicAdd(static_cast<unsigned long long*>(counts) + place, static_cast<unsigned long long>(value));
  else
    atomicAdd(static_cast<unsigned*>(counts) + place, static_cast<unsigned>(value));
}
__device__ inline std::int64_t count_at(const CountArray& S, std::uint64_t place) {
  return S.wide ? static_cast<const std::int64_t*>(S.values)[place]
                : static_cast<std::int64_t>(static_cast<const std::int32_t*>(S.values)[place]);
}

}  // namespace ztp::cuda
