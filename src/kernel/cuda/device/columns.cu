// Columns of factors: gamma draws, their sums, and what scales them.                                (M5), (M27), (M28)
#include "kernel/cuda/device/common.cuh"
#include "kernel/cuda/gamma_float.hpp"
#include "kernel/gamma_draw.hpp"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned per_thread = 8;  // draws of a block together, for each of its threads
constexpr unsigned per_block = threads * per_thread;

__device__ std::uint64_t row_of(const ColumnTask& task, std::uint64_t i) {
  return task.rows == nullptr ? i : task.rows[i];
}

__device__ double shape_at(const ColumnTask& task, std::uint64_t row, std::uint32_t q) {
  return task.a + task.scale * static_cast<double>(count_at(task.S, row * task.S.stride + q));
}

// Each block takes `per_block` draws. The few that are not accepted at once wait in a list, so that no warp has to go
// on for the sake of a single thread.
__global__ void __launch_bounds__(threads) draw_gamma_rows(const ColumnTask task, StreamKey key, std::uint32_t t,
                                                           FactorArray u, Divider by_columns, GammaShape empty) {
  __shared__ std::uint16_t waiting[per_block];
  __shared__ unsigned count;
  const std::uint32_t P = u.columns;
  const std::uint64_t all = task.count * P;
  const bool whole = task.scale == 1;
  const float a = static_cast<float>(task.a);
  const auto shape_of = [&](std::uint64_t row, std::uint32_t q) {
    const std::int64_t count = count_at(task.S, row * task.S.stride + q);
    return gamma_shape(a,
                       whole ? static_cast<float>(count) : static_cast<float>(task.scale * static_cast<double>(count)),
                       whole, empty);
  };
  for (std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * per_block; begin < all;
       begin += static_cast<std::uint64_t>(gridDim.x) * per_block) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const std::uint64_t first_row = begin / P;
    const auto first = static_cast<std::uint32_t>(begin - first_row * P);
    const auto here = static_cast<unsigned>(all - begin < per_block ? all - begin : per_block);
    for (unsigned i = threadIdx.x; i < here; i += threads) {
      const std::uint32_t rows = by_columns.quotient(first + i), q = first + i - rows * P;
      const std::uint64_t row = row_of(task, first_row + rows);
      const GammaShape shape = shape_of(row, q);
      const GammaCandidate candidate = propose_gamma(random_block(key, t, ((u.first_row + row) << 32) | q, 0), shape);
      if (surely_accepted(candidate))
        u.values[row * u.stride + q] = candidate.value;
      else
        waiting[atomicAdd(&count, 1u)] = static_cast<std::uint16_t>(i);
    }
    __syncthreads();
    for (unsigned w = threadIdx.x; w < count; w += threads) {
      const std::uint32_t i = first + waiting[w], rows = by_columns.quotient(i), q = i - rows * P;
      const std::uint64_t row = row_of(task, first_row + rows);
      u.values[row * u.stride + q] = draw_gamma_float(key, t, ((u.first_row + row) << 32) | q, shape_of(row, q));
    }
    __syncthreads();
  }
}

// A block of rows, all columns: thread by thread in a fixed order.
__global__ void __launch_bounds__(threads) sum_blocks(const ColumnTask task, FactorArray u, double* blocks) {
  const std::uint64_t begin = blockIdx.x * rows_per_sum;
  const std::uint64_t end = begin + rows_per_sum < task.count ? begin + rows_per_sum : task.count;
  extern __shared__ double of_thread[];
  // As many rows at a time as there are threads for.
  const std::uint32_t P = u.columns, width = P < threads ? P : threads, rows = threads / width;
  for (std::uint32_t first = 0; first < P; first += width) {
    const std::uint32_t q = first + threadIdx.x % width, part = threadIdx.x / width;
    double sum = 0;
    for (std::uint64_t i = begin + part; part < rows && q < P && i < end; i += rows)
      sum += static_cast<double>(u.values[row_of(task, i) * u.stride + q]);
    of_thread[threadIdx.x] = sum;
    __syncthreads();
    if (part == 0 && q < P) {
      for (std::uint32_t other = 1; other < rows; ++other) sum += of_thread[other * width + threadIdx.x];
      blocks[blockIdx.x * static_cast<std::uint64_t>(P) + q] = sum;
    }
    __syncthreads();
  }
}

// The sums of blocks, column by column: a warp for each of them.
__global__ void add_blocks(const double* blocks, std::uint64_t count, std::uint32_t columns, double* sums) {
  const std::uint32_t q = blockIdx.x;
  __shared__ double of_thread[threads];
  double sum = 0;
  for (std::uint64_t b = threadIdx.x; b < count; b += threads) sum += blocks[b * columns + q];
  of_thread[threadIdx.x] = sum;
  for (unsigned step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) of_thread[threadIdx.x] += of_thread[threadIdx.x + step];
  }
  if (threadIdx.x == 0) sums[q] = of_thread[0];
}

// What each column is to be multiplied by: nothing is left of one that has been lost.
__global__ void make_factors(const double* sums, std::uint32_t columns, double rows, double smallest_sum,
                             float* factor) {
  const std::uint32_t q = blockIdx.x * threads + threadIdx.x;
  if (q >= columns) return;
  factor[q] = sums[q] < smallest_sum ? 0.0f : isfinite(sums[q]) ? static_cast<float>(rows / sums[q]) : 1.0f;
}

template <class Body>
__global__ void for_values(const ColumnTask task, std::uint32_t P, Divider by_columns, Body body) {
  const std::uint64_t all = task.count * P;
  for (std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * per_block; begin < all;
       begin += static_cast<std::uint64_t>(gridDim.x) * per_block) {
    const std::uint64_t first_row = begin / P;
    const auto first = static_cast<std::uint32_t>(begin - first_row * P);
    const auto here = static_cast<unsigned>(all - begin < per_block ? all - begin : per_block);
    for (unsigned i = threadIdx.x; i < here; i += threads) {
      const std::uint32_t rows = by_columns.quotient(first + i);
      body(row_of(task, first_row + rows), first + i - rows * P);
    }
  }
}

template <class Body>
int run_for_values(const ColumnTask& task, std::uint32_t P, const Body& body) {
  for_values<<<blocks_for(task.count * P, per_block, 32), threads, 0, stream()>>>(task, P, Divider(P), body);
  return failed(cudaGetLastError());
}

// Column which[blockIdx.x] by way of logarithms, as normalise_logs of kernel/gamma_draw.hpp does it.
__global__ void __launch_bounds__(threads)
    draw_columns_in_logs(const ColumnTask task, const std::uint32_t* which, const double* log_rest, StreamKey key,
                         std::uint32_t t, FactorArray u, double* room, double* sums) {
  __shared__ double of_thread[threads];
  const std::uint32_t q = which[blockIdx.x];
  double* const logs = room + blockIdx.x * (task.count + 1);
  const std::uint64_t count = task.count + (log_rest == nullptr ? 0 : 1);
  double largest = -INFINITY, sum = 0;
  for (std::uint64_t i = threadIdx.x; i < count; i += threads) {
    double value;
    if (i < task.count) {
      const std::uint64_t row = row_of(task, i);
      value = log_gamma_at({key, t}, ((u.first_row + row) << 32) | q, shape_at(task, row, q));
    } else {
      value = log_rest[q];
    }
    logs[i] = value;
    largest = value > largest ? value : largest;
  }
  of_thread[threadIdx.x] = largest;
  for (unsigned step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step && of_thread[threadIdx.x + step] > of_thread[threadIdx.x])
      of_thread[threadIdx.x] = of_thread[threadIdx.x + step];
  }
  __syncthreads();
  largest = of_thread[0];
  __syncthreads();
  for (std::uint64_t i = threadIdx.x; i < count; i += threads) sum += logs[i] = exp(logs[i] - largest);
  of_thread[threadIdx.x] = sum;
  for (unsigned step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) of_thread[threadIdx.x] += of_thread[threadIdx.x + step];
  }
  __syncthreads();
  sum = of_thread[0];
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  const double factor = isfinite(sum) ? static_cast<double>(u.rows) / sum : 1.0;
  for (std::uint64_t i = threadIdx.x; i < task.count; i += threads)
    u.values[row_of(task, i) * u.stride + q] = static_cast<float>(logs[i] * factor);
}

}  // namespace

int draw_gammas(const ColumnTask& task, StreamKey key, std::uint32_t t, FactorArray u) {
  draw_gamma_rows<<<blocks_for(task.count * u.columns, per_block, 32), threads, 0, stream()>>>(
      task, key, t, u, Divider(u.columns), gamma_shape(task.a));
  return failed(cudaGetLastError());
}

int sum_columns(const ColumnTask& task, FactorArray u, double* blocks, double* sums) {
  const std::uint64_t count = column_blocks(task.count);
  sum_blocks<<<static_cast<unsigned>(count < 1 ? 1 : count), threads, threads * sizeof(double), stream()>>>(task, u,
                                                                                                            blocks);
  add_blocks<<<u.columns, threads, 0, stream()>>>(blocks, count, u.columns, sums);
  return failed(cudaGetLastError());
}

int scale_columns(const ColumnTask& task, const float* factor, FactorArray u) {
  return run_for_values(task, u.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    u.values[row * u.stride + q] *= factor[q];
  });
}

int draw_columns(const ColumnTask& task, StreamKey key, std::uint32_t t, FactorArray u, double smallest_sum,
                 double* blocks, double* sums, float* factor) {
  if (draw_gammas(task, key, t, u) || sum_columns(task, u, blocks, sums)) return 1;
  make_factors<<<(u.columns + threads - 1) / threads, threads, 0, stream()>>>(
      sums, u.columns, static_cast<double>(u.rows), smallest_sum, factor);
  return failed(cudaGetLastError());
}

int mean_columns(const ColumnTask& task, const float* factor, FactorArray u) {
  return run_for_values(task, u.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    u.values[row * u.stride + q] = static_cast<float>(shape_at(task, row, q) * static_cast<double>(factor[q]));
  });
}

int draw_in_logs(const ColumnTask& task, const std::uint32_t* which, std::uint32_t columns, const double* log_rest,
                 StreamKey key, std::uint32_t t, FactorArray u, double* room, double* sums) {
  draw_columns_in_logs<<<columns, threads, 0, stream()>>>(task, which, log_rest, key, t, u, room, sums);
  return failed(cudaGetLastError());
}

int sum_counts(const ColumnTask& task, std::int64_t* sums) {
  if (failed(cudaMemsetAsync(sums, 0, task.S.columns * sizeof(std::int64_t), stream()))) return 1;
  return run_for_values(task, task.S.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    const std::int64_t value = count_at(task.S, row * task.S.stride + q);
    if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(sums) + q, static_cast<unsigned long long>(value));
  });
}

}  // namespace ztp::cuda
