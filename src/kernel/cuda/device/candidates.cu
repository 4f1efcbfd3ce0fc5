// Probabilities of all entities of a mode for many queries: their weights by column, a product of matrices in floats,
// the link, and the places of test ones.                                                             (M2), (M16), (M30)
#include <cuda_pipeline.h>

#include "evaluate/chain_average.hpp"
#include "evaluate/ranking.hpp"
#include "kernel/cuda/device/common.cuh"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned tile = candidates_per_tile;
constexpr unsigned step = columns_per_step;
constexpr unsigned stages = 3;  // of tiles on their way to shared memory

// weight prod_k u_k[given_k, c] of component x of a list.
__device__ double listed_product(const ListedRates& rates, const std::uint32_t* given, std::uint32_t x) {
  double value = rates.weight[x];
  for (std::uint32_t k = 0; k < rates.K; ++k) {
    const ListedMode& mode = rates.mode[k];
    if (mode.u == nullptr) continue;
    const std::uint32_t column = mode.column == nullptr ? x : mode.column[x];
    value *= static_cast<double>(__ldg(mode.u + static_cast<std::uint64_t>(given[k]) * mode.stride + column));
  }
  return value;
}

__device__ std::uint32_t group_of(const ListedRates& rates, const std::uint32_t* given) {
  return rates.group_mode == none ? 0 : given[rates.group_mode];
}

__global__ void __launch_bounds__(threads)
    score_groups(const ListedRates rates, const std::uint32_t* coords, std::uint64_t count, double* z) {
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  for (std::uint64_t e = blockIdx.x * (threads / group_size) + threadIdx.x / group_size; e < count; e += groups) {
    const std::uint32_t* cell = coords + e * rates.K;
    const std::uint32_t g = group_of(rates, cell);
    const std::uint32_t begin = rates.segment[rates.group[g]], end = rates.segment[rates.group[g + 1]];
    double sum = 0;
    for (std::uint32_t x = begin + group.l; x < end; x += group_size) sum += listed_product(rates, cell, x);
    sum = group.sum(sum);
    if (group.l == 0) z[e] = rates.scale * sum;
  }
}

__device__ double sum_of_segment(const ListedRates& rates, const std::uint32_t* given, std::uint32_t s) {
  double sum = 0;
  for (std::uint32_t x = rates.segment[s]; x < rates.segment[s + 1]; ++x) sum += listed_product(rates, given, x);
  return sum;
}

// A block has a query. Its weights are relative to the largest; smaller ones than 1e-30 of it are zero, as in
// OpenRates::columns. Sums are made twice: once to find the largest.
__global__ void __launch_bounds__(threads) pack_weights(const ListedRates rates, const CandidateArrays arrays) {
  __shared__ double of_warp[threads / 32];
  const std::uint64_t q = blockIdx.x;
  const std::uint32_t* given = arrays.others + q * rates.K;
  const std::uint32_t g = group_of(rates, given), begin = rates.group[g], end = rates.group[g + 1];
  float* const row = arrays.weights + q * arrays.padded_columns;
  for (std::uint32_t c = threadIdx.x; c < arrays.padded_columns; c += threads) row[c] = 0;
  double largest = 0;
  for (std::uint32_t s = begin + threadIdx.x; s < end; s += threads)
    largest = fmax(largest, sum_of_segment(rates, given, s));
  for (int other = 16; other > 0; other /= 2) largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, other));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
  __syncthreads();
  for (unsigned w = 0; w < threads / 32; ++w) largest = fmax(largest, of_warp[w]);
  for (std::uint32_t s = begin + threadIdx.x; s < end; s += threads) {
    const double sum = sum_of_segment(rates, given, s);
    if (sum > 1e-30 * largest) row[rates.column[s]] = static_cast<float>(sum / largest);
  }
  if (threadIdx.x == 0) arrays.scale[q] = static_cast<float>(rates.scale * largest);
}

// to[c][j] = from[j][c]: of so many rows and columns, and zero in the padding.
__global__ void __launch_bounds__(threads)
    transpose(const float* from, std::uint64_t rows, std::uint32_t columns, std::uint32_t stride, float* to,
              std::uint64_t padded_rows, std::uint32_t padded_columns) {
  __shared__ float part[32][33];
  const std::uint64_t first_row = static_cast<std::uint64_t>(blockIdx.x) * 32;
  const std::uint32_t first_column = blockIdx.y * 32, x = threadIdx.x % 32;
  for (std::uint32_t y = threadIdx.x / 32; y < 32; y += threads / 32) {
    const std::uint64_t j = first_row + y;
    part[y][x] = j < rows && first_column + x < columns ? from[j * stride + first_column + x] : 0.0f;
  }
  __syncthreads();
  for (std::uint32_t y = threadIdx.x / 32; y < 32; y += threads / 32)
    if (first_column + y < padded_columns) to[(first_column + y) * padded_rows + first_row + x] = part[x][y];
}

// A block has 128 queries and 128 entities, a thread 8 x 8 of them: four pieces of 4 x 4, so that a warp reads shared
// memory without conflicts. Sums run over the columns in their order.
__global__ void __launch_bounds__(threads, 2) add_probabilities(const CandidateArrays arrays) {
  __shared__ __align__(16) float shared[stages][2][step][tile];
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const std::uint64_t first_query = static_cast<std::uint64_t>(blockIdx.y) * tile,
                      first_entity = static_cast<std::uint64_t>(blockIdx.x) * tile;
  const unsigned row = warp / 2 * 32 + lane / 8 * 4, column = warp % 2 * 64 + lane % 8 * 4;
  const std::uint32_t steps = arrays.padded_columns / step;
  const auto fetch = [&](std::uint32_t s) {
    for (unsigned i = thread; i < step * tile / 4; i += threads) {
      const unsigned c = i / (tile / 4), x = i % (tile / 4) * 4;
      const std::uint64_t from = static_cast<std::uint64_t>(s) * step + c;
      __pipeline_memcpy_async(&shared[s % stages][0][c][x],
                              arrays.weights_by_column + from * arrays.padded_queries + first_query + x, 16);
      __pipeline_memcpy_async(&shared[s % stages][1][c][x],
                              arrays.factors_by_column + from * arrays.padded_entities + first_entity + x, 16);
    }
  };
  float z[8][8] = {};
  for (std::uint32_t s = 0; s + 1 < stages; ++s) {
    if (s < steps) fetch(s);
    __pipeline_commit();
  }
  for (std::uint32_t s = 0; s < steps; ++s) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();  // the tiles are there, and nobody reads those that are overwritten next
    if (s + stages - 1 < steps) fetch(s + stages - 1);
    __pipeline_commit();
    const auto& weights = shared[s % stages][0];
    const auto& factors = shared[s % stages][1];
#pragma unroll
    for (unsigned c = 0; c < step; ++c) {
      float a[8], b[8];
      *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&weights[c][row]);
      *reinterpret_cast<float4*>(a + 4) = *reinterpret_cast<const float4*>(&weights[c][row + 16]);
      *reinterpret_cast<float4*>(b) = *reinterpret_cast<const float4*>(&factors[c][column]);
      *reinterpret_cast<float4*>(b + 4) = *reinterpret_cast<const float4*>(&factors[c][column + 32]);
#pragma unroll
      for (unsigned i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) z[i][j] = fmaf(a[i], b[j], z[i][j]);
    }
  }
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const std::uint64_t q = first_query + row + i % 4 + i / 4 * 16;
    const float scale = arrays.scale[q];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      float4* const at =
          reinterpret_cast<float4*>(arrays.sums + q * arrays.padded_entities + first_entity + column + half * 32);
      float4 sum = *at;
      sum.x -= expm1f(-scale * z[i][half * 4]);
      sum.y -= expm1f(-scale * z[i][half * 4 + 1]);
      sum.z -= expm1f(-scale * z[i][half * 4 + 2]);
      sum.w -= expm1f(-scale * z[i][half * 4 + 3]);
      *at = sum;
    }
  }
}

__global__ void __launch_bounds__(threads) add_logits(const CandidateArrays arrays, double draws) {
  const std::uint64_t all = arrays.queries * arrays.padded_entities;
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(threads) + threadIdx.x; i < all;
       i += static_cast<std::uint64_t>(gridDim.x) * threads) {
    const double mean = static_cast<double>(arrays.sums[i]) / draws;
    const double p = fmin(fmax(mean, least_chain_mean), most_chain_mean);
    arrays.logits[i] += static_cast<float>(log(p) - log1p(-p));
    arrays.sums[i] = 0;
  }
}

__device__ float* scores_of(const CandidateArrays& arrays, std::uint32_t query) {
  return (arrays.logits != nullptr ? arrays.logits : arrays.sums) + query * arrays.padded_entities;
}

__global__ void read_scores(const CandidateArrays arrays, const QueryEntity* tests, std::uint64_t count,
                            QueryPlace* places) {
  const std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(threads) + threadIdx.x;
  if (i < count) places[i] = {fmaxf(scores_of(arrays, tests[i].query)[tests[i].entity], smallest_score), 0, 0};
}

__global__ void drop(const CandidateArrays arrays, const QueryEntity* dropped, std::uint64_t count) {
  const std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(threads) + threadIdx.x;
  if (i < count) scores_of(arrays, dropped[i].query)[dropped[i].entity] = -INFINITY;
}

// A block has a test one: it counts the rivals above it and beside it.
__global__ void __launch_bounds__(threads)
    count_rivals(const CandidateArrays arrays, const QueryEntity* tests, QueryPlace* places) {
  const std::uint64_t i = blockIdx.x;
  const float* const scores = scores_of(arrays, tests[i].query);
  const float own = places[i].score;
  std::uint32_t above = 0, equal = 0;
  for (std::uint64_t j = threadIdx.x; j < arrays.entities; j += threads) {
    if (scores[j] == -INFINITY) continue;
    const float value = fmaxf(scores[j], smallest_score);
    above += value > own;
    equal += value == own;
  }
  above = __reduce_add_sync(0xffffffffu, above);
  equal = __reduce_add_sync(0xffffffffu, equal);
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&places[i].above, above);
  atomicAdd(&places[i].equal, equal);
}

unsigned blocks_of(std::uint64_t work) {
  return static_cast<unsigned>((work + threads - 1) / threads);
}

int transpose_to(const float* from, std::uint64_t rows, std::uint32_t columns, std::uint32_t stride, float* to,
                 std::uint64_t padded_rows, std::uint32_t padded_columns) {
  const dim3 blocks(static_cast<unsigned>(padded_rows / 32), (padded_columns + 31) / 32);
  transpose<<<blocks, threads, 0, stream()>>>(from, rows, columns, stride, to, padded_rows, padded_columns);
  return failed(cudaGetLastError());
}

}  // namespace

int score_listed(const ListedRates& rates, const std::uint32_t* coords, std::uint64_t count, double* z) {
  score_groups<<<blocks_for(count, threads / group_size, 16), threads, 0, stream()>>>(rates, coords, count, z);
  return failed(cudaGetLastError());
}

int add_candidates(const ListedRates& rates, FactorArray u, const CandidateArrays& arrays) {
  if (arrays.queries == 0) return 0;
  pack_weights<<<static_cast<unsigned>(arrays.queries), threads, 0, stream()>>>(rates, arrays);
  if (failed(cudaGetLastError()) ||
      transpose_to(arrays.weights, arrays.queries, arrays.padded_columns, arrays.padded_columns,
                   arrays.weights_by_column, arrays.padded_queries, arrays.padded_columns) ||
      transpose_to(u.values, arrays.entities, arrays.columns, u.stride, arrays.factors_by_column,
                   arrays.padded_entities, arrays.padded_columns))
    return 1;
  const dim3 blocks(static_cast<unsigned>(arrays.padded_entities / tile),
                    static_cast<unsigned>((arrays.queries + tile - 1) / tile));
  add_probabilities<<<blocks, threads, 0, stream()>>>(arrays);
  return failed(cudaGetLastError());
}

int end_chain(const CandidateArrays& arrays, double draws) {
  const std::uint64_t all = arrays.queries * arrays.padded_entities;
  add_logits<<<blocks_for(all, threads, 16), threads, 0, stream()>>>(arrays, draws);
  return failed(cudaGetLastError());
}

int place_tests(const CandidateArrays& arrays, const QueryEntity* tests, std::uint64_t count,
                const QueryEntity* dropped, std::uint64_t dropped_count, QueryPlace* places) {
  if (count == 0) return 0;
  read_scores<<<blocks_of(count), threads, 0, stream()>>>(arrays, tests, count, places);
  drop<<<blocks_of(count), threads, 0, stream()>>>(arrays, tests, count);
  if (dropped_count > 0) drop<<<blocks_of(dropped_count), threads, 0, stream()>>>(arrays, dropped, dropped_count);
  count_rivals<<<static_cast<unsigned>(count), threads, 0, stream()>>>(arrays, tests, places);
  return failed(cudaGetLastError());
}

}  // namespace ztp::cuda
