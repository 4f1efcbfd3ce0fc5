// The parts of a cell's rate, and the search among them. Four threads, a quad, have a cell: thread l the components
// 16 s + 4 l, ..., 16 s + 4 l + 3 for s = 0, 1, ..., so that a row is read by 16 bytes a thread, and so that components
// are searched in the order in which the other kernels search them (search_order).                           (M2), (M4)
#pragma once
#include "kernel/cuda/device/common.cuh"
#include "kernel/cuda/search.hpp"

namespace ztp::cuda {

constexpr unsigned quad_size = 4;
constexpr unsigned whole_warp = 0xffffffffu;

// All threads of a warp call these together.
struct Quad {
  unsigned l;  // thread of the quad

  __device__ Quad() : l(threadIdx.x % quad_size) {}
  template <class T>
  __device__ T from(T value, unsigned thread) const {
    return __shfl_sync(whole_warp, value, static_cast<int>(thread), quad_size);
  }
  // Of the threads for which `condition` holds, bit l for thread l.
  __device__ unsigned which(bool condition) const {
    return (__ballot_sync(whole_warp, condition) >> (threadIdx.x % 32 / quad_size * quad_size)) & 15u;
  }
};

__device__ inline float4 times(float4 a, float4 b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}

// Four factors of a row from component r on, a multiple of four below R. There are zeros behind the last column.
__device__ inline float4 four_factors(const ModeArrays& mode, std::uint32_t row, std::uint32_t r, std::uint32_t R) {
  const float* const u = mode.u + static_cast<std::uint64_t>(row) * mode.stride;
  if (mode.column == nullptr) return __ldg(reinterpret_cast<const float4*>(u + r));
  const auto at = [&](std::uint32_t i) { return i < R ? __ldg(u + mode.column[i]) : 0.0f; };
  return {at(r), at(r + 1), at(r + 2), at(r + 3)};
}

// The coordinates of a cell: MODES of them in registers, or (MODES = 0) any number in memory.
template <int MODES>
struct Cell {
  std::uint32_t row[MODES];
  __device__ std::uint32_t operator[](int k) const { return row[k]; }
};
template <>
struct Cell<0> {
  const std::uint32_t* row;
  __device__ std::uint32_t operator[](std::uint32_t k) const { return row[k]; }
};

// weight: padded with zeros, in memory that a block shares where products are kept in registers.
// STEPS: products are kept for up to 16 STEPS components; 0: any number, computed again when they are needed.
template <int STEPS, int MODES>
struct Products {
  const RateArrays& rates;
  const float* weight;
  Cell<MODES> cell;
  float4 p[STEPS == 0 ? 1 : STEPS];
  float of_class[4];   // sums over steps
  float before, upto;  // sums of the threads before this one, and with this one
  float total;

  __device__ Products(const RateArrays& of, const float* weights, const Cell<MODES>& at, const Quad& quad)
      : rates(of), weight(weights), cell(at) {
    float4 sum = {0, 0, 0, 0};
    const auto add = [&](float4 value) {
      sum.x += value.x;
      sum.y += value.y;
      sum.z += value.z;
      sum.w += value.w;
    };
    if constexpr (STEPS == 0) {
      for (std::uint32_t r = 4 * quad.l; r < rates.R; r += 16) add(four(r));
    } else {
#pragma unroll
      for (int s = 0; s < STEPS; ++s) {
        const std::uint32_t r = 4 * quad.l + 16 * s;
        p[s] = r < rates.R ? four(r) : float4{0, 0, 0, 0};
      }
#pragma unroll
      for (int s = 0; s < STEPS; ++s) add(p[s]);
    }
    of_class[0] = sum.x;
    of_class[1] = sum.y;
    of_class[2] = sum.z;
    of_class[3] = sum.w;
    upto = (sum.x + sum.y) + (sum.z + sum.w);
    for (unsigned step = 1; step < quad_size; step *= 2) {
      const float other = __shfl_up_sync(whole_warp, upto, step, quad_size);
      if (quad.l >= step) upto += other;
    }
    before = __shfl_up_sync(whole_warp, upto, 1, quad_size);
    if (quad.l == 0) before = 0;
    total = quad.from(upto, quad_size - 1);
  }

  __device__ float4 four(std::uint32_t r) const {
    float4 value = *reinterpret_cast<const float4*>(weight + r);
    if constexpr (MODES == 0) {
      for (std::uint32_t k = 0; k < rates.K; ++k)
        value = times(value, four_factors(rates.mode[k], cell[k], r, rates.R));
    } else {
#pragma unroll
      for (int k = 0; k < MODES; ++k)
        value = times(value, __ldg(reinterpret_cast<const float4*>(
                                 rates.mode[k].u + static_cast<std::uint64_t>(cell[k]) * rates.mode[k].stride + r)));
    }
    return value;
  }
  __device__ float of_component(std::uint32_t r) const {
    float value = weight[r];
    for (std::uint32_t k = 0; k < rates.K; ++k) value *= factor(rates.mode[k], cell[k], r);
    return value;
  }

  // The component at `target` in the running sum of all of them; never one whose share is zero.
  __device__ std::uint32_t find(const Quad& quad, float target) const {
    const float here = (of_class[0] + of_class[1]) + (of_class[2] + of_class[3]);
    const unsigned winner = lane_of(quad.which(upto > target), quad.which(here > 0));
    // Every thread searches as if it were the one.
    float rest = target - before;
    const int c = place_of(of_class, rest);
    if constexpr (STEPS > 0) {
      float of_steps[STEPS];
#pragma unroll
      for (int s = 0; s < STEPS; ++s) {
        const float low = c & 1 ? p[s].y : p[s].x, high = c & 1 ? p[s].w : p[s].z;
        of_steps[s] = c & 2 ? high : low;
      }
      const int s = place_of(of_steps, rest);
      return quad.from(16 * static_cast<unsigned>(s) + 4 * quad.l + static_cast<unsigned>(c), winner);
    } else {
      return find_in_class(quad, quad.from(4 * quad.l + static_cast<unsigned>(c), winner), quad.from(rest, winner));
    }
  }

  // The components of a class, four at a time.
  __device__ std::uint32_t find_in_class(const Quad& quad, std::uint32_t of, float rest) const {
    std::uint32_t found = of;
    bool searching = true;
    for (std::uint32_t s = 0; 16 * s < rates.R; s += quad_size) {  // as often in all quads
      const std::uint32_t r = of + 16 * (s + quad.l);
      const float value = r < rates.R ? of_component(r) : 0.0f;
      float upto_here = value;
      for (unsigned step = 1; step < quad_size; step *= 2) {
        const float other = __shfl_up_sync(whole_warp, upto_here, step, quad_size);
        if (quad.l >= step) upto_here += other;
      }
      const unsigned past = quad.which(upto_here > rest), positive = quad.which(value > 0);
      rest -= quad.from(upto_here, quad_size - 1);
      if (!searching || (past | positive) == 0) continue;
      found = of + 16 * (s + lane_of(past, positive));
      searching = past == 0;
    }
    return found;
  }
};

}  // namespace ztp::cuda
