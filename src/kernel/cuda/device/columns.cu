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

constexpr unsigned tile_columns = 256;  // at most, of the draws that a block makes together
constexpr unsigned tile_rows = rows_per_sum;
constexpr unsigned most_jobs = 12;  // matrices of one launch

// A matrix whose columns are drawn, in tiles of rows_per_sum rows.
struct TiledJob {
  ColumnJob job;
  GammaShape empty;                 // of cells without a count
  Divider by_width, by_last_width;  // of the last tile across, which may be narrower
  std::uint32_t width, across;      // columns of a tile; tiles beside each other
  std::uint32_t first_tile;         // of this job among all
};
struct TiledJobs {
  TiledJob job[most_jobs];
  unsigned count;
};

// Gamma draws of a block. The few that are not accepted at once wait in a list, so that no warp has to go on for the
// sake of a single thread.
struct BlockDraw {
  StreamKey key;
  std::uint32_t t;
  std::uint16_t* waiting;
  unsigned* waiting_count;  // zero

  // index(i): of the stream of draw i of `count`. keep(i, value).
  template <class Index, class Shape, class Keep>
  __device__ void draw(unsigned count, const Index& index, const Shape& shape, const Keep& keep) const {
    for (unsigned i = threadIdx.x; i < count; i += threads) {
      const GammaCandidate candidate = propose_gamma(random_block(key, t, index(i), 0), shape(i));
      if (surely_accepted(candidate))
        keep(i, candidate.value);
      else
        waiting[atomicAdd(waiting_count, 1u)] = static_cast<std::uint16_t>(i);
    }
    __syncthreads();
    const unsigned waits = *waiting_count;
    for (unsigned w = threadIdx.x; w < waits; w += threads)
      keep(waiting[w], draw_gamma_float(key, t, index(waiting[w]), shape(waiting[w])));
    __syncthreads();
  }
};

// The shape of a cell with this count, which is a whole number of `scale`.
__device__ GammaShape shape_of(const ColumnTask& task, std::int64_t count, const GammaShape& empty) {
  const bool whole = task.scale == 1;
  return gamma_shape(static_cast<float>(task.a),
                     whole ? static_cast<float>(count) : static_cast<float>(task.scale * static_cast<double>(count)),
                     whole, empty);
}

// All rows of several matrices, with the sums of their tiles. plain: counts have 32 bits and a scale of one.
template <bool PLAIN>
__global__ void __launch_bounds__(threads, 5) draw_tiles(const __grid_constant__ TiledJobs jobs) {
  extern __shared__ float tile[];  // rows x width, and then the list of those that wait
  __shared__ double of_thread[threads];
  __shared__ unsigned waiting_count;
  unsigned which = 0;
  while (which + 1 < jobs.count && blockIdx.x >= jobs.job[which + 1].first_tile) ++which;
  const TiledJob& of = jobs.job[which];
  const ColumnJob& job = of.job;
  const std::uint32_t number = blockIdx.x - of.first_tile, block = number / of.across;
  const std::uint32_t first = number % of.across * tile_columns, P = job.u.columns;
  const std::uint32_t width = first + of.width < P ? of.width : P - first;
  const Divider by_width = width == of.width ? of.by_width : of.by_last_width;
  const std::uint64_t begin = std::uint64_t{block} * tile_rows;
  const auto rows = static_cast<unsigned>(job.u.rows - begin < tile_rows ? job.u.rows - begin : tile_rows);
  if (threadIdx.x == 0) waiting_count = 0;
  __syncthreads();
  // Everything from here on counts from the first cell of the tile. Counts have the stride of factors.
  const std::uint32_t stride = job.u.stride;
  const std::uint64_t corner = begin * stride + first;
  const GammaShape empty = of.empty;
  float* const u = job.u.values + corner;
  const std::int32_t* const narrow = static_cast<const std::int32_t*>(job.task.S.values) + corner;
  const float a = static_cast<float>(job.task.a);
  const auto place = [&](unsigned i) { return i + by_width.quotient(i) * (stride - width); };
  const std::uint64_t first_row = job.u.first_row + begin;
  const auto index = [&](unsigned i) {
    const std::uint32_t row = by_width.quotient(i);
    return ((first_row + row) << 32) | (first + i - row * width);
  };
  const auto shape = [&](unsigned i) {
    if constexpr (PLAIN)
      return gamma_shape(a, static_cast<float>(narrow[place(i)]), true, empty);
    else
      return shape_of(job.task, count_at(job.task.S, corner + place(i)), empty);
  };
  const BlockDraw draws{job.key, job.t, reinterpret_cast<std::uint16_t*>(tile + tile_rows * of.width), &waiting_count};
  draws.draw(rows * width, index, shape, [&](unsigned i, float value) { u[place(i)] = tile[i] = value; });
  // Several threads have a column where there are enough of them: row by row in a fixed order, then the threads'.
  const std::uint32_t parts = threads / width, part = threadIdx.x / width, q = threadIdx.x % width;
  double sum = 0;
  for (unsigned row = part; part < parts && row < rows; row += parts) sum += static_cast<double>(tile[row * width + q]);
  of_thread[threadIdx.x] = sum;
  __syncthreads();
  if (part != 0) return;
  for (std::uint32_t other = 1; other < parts; ++other) sum += of_thread[other * width + q];
  job.blocks[std::uint64_t{block} * P + first + q] = sum;
}

struct RowAndColumn {
  std::uint64_t row;
  std::uint32_t q;
};

// Each block takes `per_block` draws of some rows or all.
__global__ void __launch_bounds__(threads) draw_gamma_rows(const ColumnTask task, StreamKey key, std::uint32_t t,
                                                           FactorArray u, Divider by_columns, GammaShape empty) {
  __shared__ std::uint16_t waiting[per_block];
  __shared__ unsigned waiting_count;
  const std::uint32_t P = u.columns;
  const std::uint64_t all = task.count * P;
  for (std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * per_block; begin < all;
       begin += static_cast<std::uint64_t>(gridDim.x) * per_block) {
    if (threadIdx.x == 0) waiting_count = 0;
    __syncthreads();
    const std::uint64_t first_row = begin / P;
    const auto first = static_cast<std::uint32_t>(begin - first_row * P);
    const auto here = static_cast<unsigned>(all - begin < per_block ? all - begin : per_block);
    const auto place = [&](unsigned i) {
      const std::uint32_t rows = by_columns.quotient(first + i);
      return RowAndColumn{row_of(task, first_row + rows), first + i - rows * P};
    };
    const auto index = [&](unsigned i) {
      const auto [row, q] = place(i);
      return ((u.first_row + row) << 32) | q;
    };
    const auto shape = [&](unsigned i) {
      const auto [row, q] = place(i);
      return shape_of(task, count_at(task.S, row * task.S.stride + q), empty);
    };
    BlockDraw{key, t, waiting, &waiting_count}.draw(here, index, shape, [&](unsigned i, float value) {
      const auto [row, q] = place(i);
      u.values[row * u.stride + q] = value;
    });
  }
}

// What these rows add up to, all columns, tile by tile: as many rows at a time as a block of THREADS has threads for,
// each of which takes its rows one after another, and then the threads in order.
template <unsigned THREADS>
__device__ void sum_rows(const ColumnTask& task, FactorArray u, std::uint64_t begin, std::uint64_t end, double* sums) {
  __shared__ double of_thread[THREADS];
  for (std::uint32_t first = 0; first < u.columns; first += tile_columns) {
    const std::uint32_t width = u.columns - first < tile_columns ? u.columns - first : tile_columns;
    const std::uint32_t parts = THREADS / width, part = threadIdx.x / width, q = threadIdx.x % width;
    double sum = 0;
    for (std::uint64_t i = begin + part; part < parts && i < end; i += parts)
      sum += static_cast<double>(u.values[row_of(task, i) * u.stride + first + q]);
    of_thread[threadIdx.x] = sum;
    __syncthreads();
    if (part == 0) {
      for (std::uint32_t other = 1; other < parts; ++other) sum += of_thread[other * width + q];
      sums[first + q] = sum;
    }
    __syncthreads();
  }
}

// A block of rows for each block of threads: the same sums as those of draw_tiles.
__global__ void __launch_bounds__(threads) sum_blocks(const ColumnTask task, FactorArray u, double* blocks) {
  const std::uint64_t begin = blockIdx.x * rows_per_sum;
  const std::uint64_t end = begin + rows_per_sum < task.count ? begin + rows_per_sum : task.count;
  sum_rows<threads>(task, u, begin, end, blocks + blockIdx.x * static_cast<std::uint64_t>(u.columns));
}

// Adds up `per_group` rows of sums, 32 columns a block: 32 threads for each, which have sums_of_thread neighbours and
// then add up what neighbouring threads have: so neighbouring groups of 8, 16, ... have sums of their own, which other
// processes may have made (kernel/cuda/sum_order.hpp). With `factor`: what each column is to be multiplied by to add up
// to `rows`, too; nothing is left of one that has been lost.
struct SumTask {
  const double* blocks;
  std::uint64_t count, per_group;
  std::uint32_t columns;
  double* sums;
  float* factor;
  double rows, smallest_sum;
};
struct SumTasks {
  SumTask task[most_jobs];
};
constexpr unsigned sum_width = 32, sum_threads = 1024;
static_assert(sum_threads / sum_width * sums_of_thread == sums_of_group);

__global__ void __launch_bounds__(sum_threads) add_blocks(const __grid_constant__ SumTasks tasks) {
  __shared__ double of_thread[sum_threads];
  const SumTask& task = tasks.task[blockIdx.z];
  const std::uint32_t q = blockIdx.y * sum_width + threadIdx.x % sum_width, part = threadIdx.x / sum_width;
  const std::uint64_t begin = blockIdx.x * task.per_group;
  if (blockIdx.y * sum_width >= task.columns || (begin >= task.count && blockIdx.x > 0)) return;  // the whole block
  const std::uint64_t end = begin + task.per_group < task.count ? begin + task.per_group : task.count;
  double sum = 0;
  const std::uint64_t first = begin + part * sums_of_thread;
#pragma unroll
  for (unsigned i = 0; i < sums_of_thread; ++i)
    if (q < task.columns && first + i < end) sum += task.blocks[(first + i) * task.columns + q];
  of_thread[threadIdx.x] = sum;
  for (unsigned step = 1; step < sum_threads / sum_width; step *= 2) {
    __syncthreads();
    if (part % (2 * step) == 0) of_thread[threadIdx.x] += of_thread[threadIdx.x + step * sum_width];
  }
  if (part != 0 || q >= task.columns) return;
  sum = of_thread[threadIdx.x];
  task.sums[blockIdx.x * static_cast<std::uint64_t>(task.columns) + q] = sum;
  if (task.factor != nullptr)
    task.factor[q] = sum < task.smallest_sum ? 0.0f : isfinite(sum) ? static_cast<float>(task.rows / sum) : 1.0f;
}

// Listed rows, group by group.
__global__ void __launch_bounds__(sum_threads)
    sum_listed(const ColumnTask task, FactorArray u, const std::uint32_t* begin, double* sums) {
  sum_rows<sum_threads>(task, u, begin[blockIdx.x], begin[blockIdx.x + 1],
                        sums + blockIdx.x * static_cast<std::uint64_t>(u.columns));
}

// Sums of blocks become sums of columns: group by group, where there are many. Sums of groups take the place of those
// of blocks, which other blocks of threads may still read: so they go behind them.
int add_up(SumTasks tasks, unsigned count) {
  const auto groups_of = [](std::uint64_t blocks) { return (blocks + sums_of_group - 1) / sums_of_group; };
  for (;;) {
    std::uint64_t groups = 1;
    std::uint32_t columns = 1;
    SumTasks now = tasks;
    for (unsigned i = 0; i < count; ++i) {
      SumTask& task = now.task[i];
      const std::uint64_t of_task = groups_of(task.count);
      groups = of_task > groups ? of_task : groups;
      columns = task.columns > columns ? task.columns : columns;
      task.per_group = sums_of_group;
      if (of_task <= 1) continue;
      task.factor = nullptr;
      task.sums = const_cast<double*>(task.blocks) + task.count * task.columns;
      tasks.task[i].blocks = task.sums;
      tasks.task[i].count = of_task;
    }
    add_blocks<<<dim3(static_cast<unsigned>(groups), (columns + sum_width - 1) / sum_width, count), sum_threads, 0,
                 stream()>>>(now);
    if (failed(cudaGetLastError())) return 1;
    if (groups == 1) return 0;
  }
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

// The logarithm of the draw at this row.
__device__ double log_gamma(const ColumnTask& task, std::uint64_t row, std::uint32_t q, const Streams& streams,
                            const FactorArray& u) {
  return log_gamma_at(streams, ((u.first_row + row) << 32) | q, shape_at(task, row, q));
}

// As normalise_logs of kernel/gamma_draw.hpp, by a block of threads: logarithms become what they are together `n` times
// one. Returns what they add up to relative to the largest.
__device__ double normalise_logs(double* logs, std::uint64_t count, double n) {
  __shared__ double of_thread[threads];
  double largest = -INFINITY, sum = 0;
  for (std::uint64_t i = threadIdx.x; i < count; i += threads) largest = logs[i] > largest ? logs[i] : largest;
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
  const double factor = isfinite(sum) ? n / sum : 1.0;
  for (std::uint64_t i = threadIdx.x; i < count; i += threads) logs[i] *= factor;
  return sum;
}

// Column which[blockIdx.x] by way of logarithms.
__global__ void __launch_bounds__(threads)
    draw_columns_in_logs(const ColumnTask task, const std::uint32_t* which, const double* log_rest, StreamKey key,
                         std::uint32_t t, FactorArray u, double* room, double* sums) {
  const std::uint32_t q = which[blockIdx.x];
  double* const logs = room + blockIdx.x * (task.count + 1);
  for (std::uint64_t i = threadIdx.x; i < task.count; i += threads)
    logs[i] = log_gamma(task, row_of(task, i), q, {key, t}, u);
  if (log_rest != nullptr && threadIdx.x == 0) logs[task.count] = log_rest[q];
  __syncthreads();
  const double sum =
      normalise_logs(logs, task.count + (log_rest == nullptr ? 0 : 1), static_cast<double>(u.rows));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  for (std::uint64_t i = threadIdx.x; i < task.count; i += threads)
    u.values[row_of(task, i) * u.stride + q] = static_cast<float>(logs[i]);
}

__global__ void __launch_bounds__(threads) normalise_column(double* logs, std::uint64_t count, double n, double* sum) {
  const double of_all = normalise_logs(logs, count, n);
  if (threadIdx.x == 0) *sum = of_all;
}

template <class Body>
__global__ void for_listed(const ColumnTask task, Body body) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x; i < task.count;
       i += std::uint64_t{gridDim.x} * threads)
    body(i, row_of(task, i));
}

}  // namespace

int draw_gammas(const ColumnTask& task, StreamKey key, std::uint32_t t, FactorArray u) {
  draw_gamma_rows<<<blocks_for(task.count * u.columns, per_block, 32), threads, 0, stream()>>>(
      task, key, t, u, Divider(u.columns), gamma_shape(task.a));
  return failed(cudaGetLastError());
}

int sum_columns(const ColumnTask& task, FactorArray u, double* blocks, double* sums) {
  const std::uint64_t count = column_blocks(task.count);
  sum_blocks<<<static_cast<unsigned>(count < 1 ? 1 : count), threads, 0, stream()>>>(task, u, blocks);
  SumTasks tasks{};
  tasks.task[0] = {blocks, count, 0, u.columns, sums, nullptr, 0, 0};
  return failed(cudaGetLastError()) || add_up(tasks, 1);
}

int sum_groups(const ColumnTask& task, FactorArray u, std::uint64_t rows_of_group, double* blocks, double* sums) {
  const std::uint64_t count = column_blocks(task.count), per_group = rows_of_group / rows_per_sum;
  if (count == 0) return 0;
  sum_blocks<<<static_cast<unsigned>(count), threads, 0, stream()>>>(task, u, blocks);
  SumTasks tasks{};
  tasks.task[0] = {blocks, count, per_group, u.columns, sums, nullptr, 0, 0};
  add_blocks<<<dim3(static_cast<unsigned>((count + per_group - 1) / per_group), (u.columns + sum_width - 1) / sum_width),
               sum_threads, 0, stream()>>>(tasks);
  return failed(cudaGetLastError());
}

int sum_listed_groups(const ColumnTask& task, FactorArray u, const std::uint32_t* begin, std::uint64_t groups,
                      double* sums) {
  if (groups > 0) sum_listed<<<static_cast<unsigned>(groups), sum_threads, 0, stream()>>>(task, u, begin, sums);
  return failed(cudaGetLastError());
}

int add_groups(double* groups, std::uint64_t count, std::uint32_t columns, double* sums) {
  SumTasks tasks{};
  tasks.task[0] = {groups, count, 0, columns, sums, nullptr, 0, 0};
  return add_up(tasks, 1);
}

int scale_columns(const ColumnTask& task, const float* factor, FactorArray u) {
  return run_for_values(task, u.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    u.values[row * u.stride + q] *= factor[q];
  });
}

int draw_columns(const ColumnJob* jobs, std::size_t count) {
  while (count > 0) {
    TiledJobs tiled{};
    SumTasks sums{};
    std::uint64_t tiles = 0;
    std::uint32_t widest = 1;
    for (; count > 0 && tiled.count < most_jobs; ++jobs, --count) {
      const std::uint32_t P = jobs->u.columns, width = P < tile_columns ? P : tile_columns;
      const std::uint64_t blocks = column_blocks(jobs->u.rows);
      const std::uint32_t across = (P + tile_columns - 1) / tile_columns;
      if (tiles + blocks * across > 0x7fffffffu) {  // more than a launch takes
        if (tiled.count > 0) break;
        return failed(cudaErrorInvalidConfiguration);
      }
      sums.task[tiled.count] = {
          jobs->blocks, blocks, 0, P, jobs->sums, jobs->factor, static_cast<double>(jobs->u.rows), jobs->smallest_sum};
      const Divider by_width(width), by_last_width(P - (across - 1) * tile_columns);
      const auto first = static_cast<std::uint32_t>(tiles);
      tiled.job[tiled.count++] = {*jobs, gamma_shape(jobs->task.a), by_width, by_last_width, width, across, first};
      tiles += blocks * across;
      widest = width > widest ? width : widest;
    }
    const std::size_t room = tile_rows * widest * (sizeof(float) + sizeof(std::uint16_t));
    bool plain = true;
    for (unsigned i = 0; i < tiled.count; ++i) {
      const ColumnTask& task = tiled.job[i].job.task;
      plain = plain && !task.S.wide && task.scale == 1;
    }
    const auto kernel = plain ? draw_tiles<true> : draw_tiles<false>;
    if (room > 40 * 1024 &&  // with what is shared anyway, more than any kernel may have
        failed(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024)))
      return 1;
    kernel<<<static_cast<unsigned>(tiles), threads, room, stream()>>>(tiled);
    if (failed(cudaGetLastError()) || add_up(sums, tiled.count)) return 1;
  }
  return 0;
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

int log_gammas(const ColumnTask& task, std::uint32_t q, StreamKey key, std::uint32_t t, FactorArray u, double* logs) {
  for_listed<<<blocks_for(task.count, threads, 16), threads, 0, stream()>>>(
      task, [=] __device__(std::uint64_t i, std::uint64_t row) { logs[i] = log_gamma(task, row, q, {key, t}, u); });
  return failed(cudaGetLastError());
}

int normalise(double* logs, std::uint64_t count, double n, double* sum) {
  normalise_column<<<1, threads, 0, stream()>>>(logs, count, n, sum);
  return failed(cudaGetLastError());
}

int write_column(const ColumnTask& task, std::uint32_t q, const double* values, FactorArray u) {
  for_listed<<<blocks_for(task.count, threads, 16), threads, 0, stream()>>>(
      task, [=] __device__(std::uint64_t i, std::uint64_t row) {
        u.values[row * u.stride + q] = static_cast<float>(values[i]);
      });
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
