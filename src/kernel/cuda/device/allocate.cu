// Latent counts of the cells, and where they are added.                                       (M3), (M4), (M17), (M26)
//
// Two passes. `draw_entries` computes the rate of every entry and finds the component of its unit; that is all for
// most. Entries whose count may be another than one go to a list, for `draw_several`, and those whose rate floats do
// not hold to another, which is hardly ever used (allocate_slow.cu). All sums are of integers, and so do not depend on the
// order.
#include "kernel/cuda/device/entries.cuh"
#include "kernel/cuda/device/products.cuh"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = entry_threads;
constexpr unsigned entries_per_block = 2 * threads;  // at least: neighbours, which often have rows in common
constexpr unsigned most_blocks = 32768;
constexpr unsigned large_threads = 128;
constexpr std::uint32_t most_histogram = 4096;  // components whose totals fit in the memory that a block shares
constexpr std::uint64_t no_entry = ~std::uint64_t{0};

// The place of an entry in a list: one atomic operation for all threads of a warp that have one.
__device__ std::uint64_t place_in_list(bool has_one, std::uint64_t* count) {
  const unsigned all = __ballot_sync(whole_warp, has_one);
  if (all == 0) return 0;
  const unsigned lane = threadIdx.x % 32, leader = __ffs(static_cast<int>(all)) - 1;
  unsigned long long first = 0;
  if (lane == leader) first = atomicAdd(reinterpret_cast<unsigned long long*>(count), __popc(all));
  first = __shfl_sync(whole_warp, first, static_cast<int>(leader));
  return first + __popc(all & ((1u << lane) - 1));
}

// Totals of components, in memory that the block shares where there is room.
struct BlockTotals {
  unsigned* units;
  std::uint32_t R;

  __device__ BlockTotals(unsigned* room, std::uint32_t components)
      : units(components <= most_histogram ? room : nullptr), R(components) {
    for (std::uint32_t r = threadIdx.x; units != nullptr && r < R; r += threads) units[r] = 0;
  }
  __device__ void add_unit(const DrawTask& task, std::uint32_t r) {
    if (units != nullptr)
      atomicAdd(units + r, 1u);
    else
      add_total(task, r, 1);
  }
  __device__ void flush(const DrawTask& task) const {  // when all threads are through
    for (std::uint32_t r = threadIdx.x; units != nullptr && r < R; r += threads)
      if (units[r] != 0) add_total(task, r, units[r]);
  }
};

// Weights of up to 16 STEPS components are in memory that the block shares.
template <int STEPS>
__device__ const float* near_weights(const RateArrays& rates, float* room) {
  if constexpr (STEPS == 0) {
    return rates.weight;
  } else {
    for (std::uint32_t r = threadIdx.x; r < 16 * STEPS; r += threads)
      room[r] = r < padded_components(rates.R) ? rates.weight[r] : 0.0f;
    return room;
  }
}

// The cell of thread `which` of the warp; each thread has one, and its entry.
template <int MODES>
__device__ Cell<MODES> cell_of(const CellArrays& cells, std::uint32_t K, unsigned which, std::uint64_t entry_of_thread,
                               const Cell<MODES>& of_thread) {
  if constexpr (MODES == 0) {
    return {cells.coords + __shfl_sync(whole_warp, entry_of_thread, static_cast<int>(which)) * K};
  } else {
    Cell<MODES> result;
#pragma unroll
    for (int k = 0; k < MODES; ++k) result.row[k] = __shfl_sync(whole_warp, of_thread.row[k], static_cast<int>(which));
    return result;
  }
}

template <int MODES>
__device__ Cell<MODES> load_cell(const CellArrays& cells, std::uint64_t e) {
  Cell<MODES> cell;
  if constexpr (MODES > 0)
    for (int k = 0; k < MODES; ++k) cell.row[k] = __ldg(cells.coords + e * MODES + k);
  return cell;
}

// A unit of component r, in all modes.
template <int MODES>
__device__ void add_unit(const DrawTask& task, std::uint64_t e, const Cell<MODES>& cell, std::uint32_t r) {
  const auto add = [&](const ModeArrays& mode, std::uint32_t row) {
    const std::uint32_t column = mode.column == nullptr ? r : mode.column[r];
    add_to(mode.counts, mode.wide, static_cast<std::uint64_t>(row) * mode.stride + column, task.unit);
  };
  if constexpr (MODES > 0) {
#pragma unroll
    for (int k = 0; k < MODES; ++k) add(task.rates.mode[k], cell.row[k]);
  } else {
    for (std::uint32_t k = 0; k < task.rates.K; ++k) add(task.rates.mode[k], task.cells.coords[e * task.rates.K + k]);
  }
}

// A block takes `per_block` entries that follow each other, and a warp of it 32 at a time: each thread has the random
// numbers and the result of one, and its quad computes the products of those of its four threads one after another.
template <int STEPS, int MODES>
__global__ void __launch_bounds__(threads, STEPS == 0 || STEPS > 7 ? 2
                                           : STEPS > 4             ? 3
                                                                   : 4)
    draw_entries(const __grid_constant__ DrawTask task, std::uint64_t per_block) {
  extern __shared__ unsigned histogram[];
  __shared__ __align__(16) float room_for_weights[STEPS == 0 ? 1 : 16 * STEPS];
  const RateArrays& rates = task.rates;
  const CellArrays& cells = task.cells;
  const float* const weight = near_weights<STEPS>(rates, room_for_weights);
  BlockTotals totals(histogram, rates.R);
  __syncthreads();
  const Quad quad;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t block_begin = blockIdx.x * per_block;
  const std::uint64_t end = block_begin + per_block < cells.count ? block_begin + per_block : cells.count;
  LikelihoodSum log_likelihood;
  for (std::uint64_t begin = block_begin + threadIdx.x / 32 * 32; begin < end; begin += threads) {
    const std::uint64_t e = begin + lane;
    const bool is_there = e < end;
    const Cell<MODES> own = load_cell<MODES>(cells, is_there ? e : begin);
    const auto word = random_block(task.key, task.t, number_of(cells, is_there ? e : begin), 0);
    const double first = to_uniform(word[0] | static_cast<std::uint64_t>(word[1]) << 32);
    const double second = to_uniform(word[2] | static_cast<std::uint64_t>(word[3]) << 32);
    const std::int64_t y = cells.observed != nullptr && is_there ? cells.observed[e] : 1;
    const auto place = static_cast<float>(cells.observed != nullptr ? first : second);
    float total = 0;
    std::uint32_t component = 0;
#pragma unroll 1
    for (unsigned i = 0; i < quad_size; ++i) {
      const Products<STEPS, MODES> products(
          rates, weight, cell_of<MODES>(cells, rates.K, lane / quad_size * quad_size + i, is_there ? e : begin, own),
          quad);
      const std::uint32_t found = cells.missing ? 0 : products.find(quad, quad.from(place, i) * products.total);
      if (quad.l == i) {
        total = products.total;
        component = found;
      }
    }
    const double z = rates.scale * static_cast<double>(total);
    const bool holds = floats_hold(static_cast<double>(total), z);
    const bool one = cells.observed != nullptr ? y == 1 : !cells.missing && first <= 1 - z;
    const bool nothing = cells.missing && first <= 1 - z;
    const bool is_unit = is_there && holds && one;
    const bool several = is_there && holds && !one && !nothing, in_logs = is_there && !holds;
    const std::uint64_t place_of_several = place_in_list(several, &task.header->several);
    const std::uint64_t place_in_logs = place_in_list(in_logs, &task.header->in_logs);
    if (several) {
      task.work[place_of_several] = static_cast<std::uint32_t>(e);
      task.work[cells.count + place_of_several] = __float_as_uint(total);
    }
    if (in_logs) task.work[cells.count - 1 - place_in_logs] = static_cast<std::uint32_t>(e);
    if (is_there && holds)
      log_likelihood.add(task, log_likelihood_of(cells, z, cells.observed != nullptr ? log(z) : 0.0, y));
    if (task.component != nullptr && is_there) task.component[e] = is_unit ? component : none;
    if (is_unit) {
      add_unit<MODES>(task, e, own, component);
      totals.add_unit(task, component);
    }
    __syncwarp();
  }
  log_likelihood.flush(task);  // and all threads are through
  totals.flush(task);
}

// Many units of one entry: by binomials, one component after another, all by the thread that calls it.
__device__ __noinline__ void split_large(const DrawTask& task, std::uint64_t e, std::int64_t y, Stream& stream) {
  const RateArrays& rates = task.rates;
  const std::uint32_t* const cell = task.cells.coords + e * rates.K;
  split_by_binomials(
      stream, y, rates.R, [&](std::uint32_t r) { return static_cast<double>(product(rates, cell, r)); },
      [&](std::uint32_t r, std::int64_t part, std::uint32_t order) { add_part(task, e, r, part, order); });
}

// The same for those that were listed, a warp for each: its threads make the products, and one of them draws. Without
// this a few large counts would keep everything waiting.
__global__ void __launch_bounds__(large_threads) split_listed(const __grid_constant__ DrawTask task) {
  extern __shared__ float shares[];
  const RateArrays& rates = task.rates;
  const unsigned lane = threadIdx.x % 32;
  float* const of_warp = shares + threadIdx.x / 32 * rates.R;
  const std::uint64_t all = task.header->large < task.most_large ? task.header->large : task.most_large;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * large_threads + threadIdx.x) / 32; i < all;
       i += std::uint64_t{gridDim.x} * large_threads / 32) {
    const std::uint64_t place = task.large[i], e = task.work[place];
    for (std::uint32_t r = lane; r < rates.R; r += 32) of_warp[r] = product(rates, task.cells.coords + e * rates.K, r);
    __syncwarp();
    if (lane == 0) {
      Stream stream(task.key, task.t, number_of(task.cells, e));
      const double total = static_cast<double>(__uint_as_float(task.work[task.cells.count + place]));
      const std::int64_t y = draw_count(stream, task.cells, e, rates.scale * total);
      split_by_binomials(
          stream, y, rates.R, [&](std::uint32_t r) { return static_cast<double>(of_warp[r]); },
          [&](std::uint32_t r, std::int64_t part, std::uint32_t order) { add_part(task, e, r, part, order); });
    }
    __syncwarp();
  }
}

// Entries that may have another count than one. A warp takes 32 of them, or fewer where there are warps enough: threads
// draw the count of one each, and their quad finds the components of the units, one entry after another.
template <int STEPS, int MODES>
__global__ void __launch_bounds__(threads, STEPS == 0 || STEPS > 7 ? 2 : 3)
    draw_several(const __grid_constant__ DrawTask task) {
  extern __shared__ unsigned histogram[];
  __shared__ __align__(16) float room_for_weights[STEPS == 0 ? 1 : 16 * STEPS];
  const CellArrays& cells = task.cells;
  const float* const weight = near_weights<STEPS>(task.rates, room_for_weights);
  BlockTotals totals(histogram, task.rates.R);
  __syncthreads();
  const Quad quad;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t all = task.header->several;
  const std::uint64_t quads = std::uint64_t{gridDim.x} * (threads / quad_size);
  const unsigned of_quad = all > 3 * quads ? quad_size : all > quads ? 2 : 1;  // entries
  constexpr unsigned quads_of_warp = 32 / quad_size;
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * threads + threadIdx.x) / 32;
  for (std::uint64_t begin = warp * quads_of_warp * of_quad; begin < all; begin += quads * of_quad) {
    const std::uint64_t own_place = begin + lane / quad_size * of_quad + quad.l;
    const bool is_there = quad.l < of_quad && own_place < all;
    const std::uint64_t place = is_there ? own_place : begin, e = task.work[place];
    const auto total = static_cast<double>(__uint_as_float(task.work[cells.count + place]));
    const Cell<MODES> own = load_cell<MODES>(cells, e);
    Stream stream(task.key, task.t, number_of(cells, e));
    const std::int64_t y = is_there ? draw_count(stream, cells, e, task.rates.scale * total) : 0;
    const auto searched = static_cast<unsigned>(is_searched(cells, y) ? y : 0);
    __syncwarp();
#pragma unroll 1
    for (unsigned i = 0; i < of_quad; ++i) {
      const unsigned units = quad.from(searched, i);
      if (!__any_sync(whole_warp, units > 0)) continue;
      const Products<STEPS, MODES> products(
          task.rates, weight, cell_of<MODES>(cells, task.rates.K, lane / quad_size * quad_size + i, e, own), quad);
      for (unsigned unit = 0; __any_sync(whole_warp, unit < units); ++unit) {
        const bool is_own = quad.l == i && unit < searched;
        const float target = is_own ? static_cast<float>(stream.uniform() * total) : 0.0f;
        __syncwarp();
        const std::uint32_t r = products.find(quad, quad.from(target, i));
        if (is_own) {
          add_unit<MODES>(task, e, own, r);
          totals.add_unit(task, r);
          list_part(task, e, r, 1, order_of_unit(cells, r, unit));
        }
        __syncwarp();
      }
    }
    if (searched < y) {
      const std::uint64_t in_list = atomicAdd(reinterpret_cast<unsigned long long*>(&task.header->large), 1ull);
      if (in_list < task.most_large)
        task.large[in_list] = static_cast<std::uint32_t>(place);
      else
        split_large(task, e, y, stream);
    }
    __syncwarp();
  }
  __syncthreads();
  totals.flush(task);
}

// Totals and the header to zero; weights that make up for factors which are still to be scaled.
__global__ void prepare(const __grid_constant__ DrawTask task) {
  const RateArrays& rates = task.rates;
  for (std::uint32_t r = threadIdx.x; r < padded_components(rates.R); r += blockDim.x) {
    if (r < rates.R) task.totals[r] = 0;
    if (task.weight == nullptr) continue;
    float product = r < rates.R ? rates.weight[r] : 0.0f;
    double sum = r < rates.R ? rates.log_weight[r] : 0.0;
    for (std::uint32_t k = 0; r < rates.R && k < rates.K; ++k) {
      const ModeArrays& mode = rates.mode[k];
      if (mode.to_scale == nullptr) continue;
      const float factor = mode.to_scale[mode.column == nullptr ? r : mode.column[r]];
      product *= factor;
      sum += log(static_cast<double>(factor));
    }
    task.weight[r] = product;
    if (r < rates.R) task.log_weight[r] = sum;
  }
  if (threadIdx.x == 0) *task.header = {0, 0, 0, 0, 0, 0, 0, no_entry};
}

template <int STEPS, int MODES>
void launch(const DrawTask& task) {
  const std::uint64_t count = task.cells.count;
  std::uint64_t per_block = (count + most_blocks - 1) / most_blocks;
  per_block = per_block < entries_per_block ? entries_per_block : (per_block + threads - 1) / threads * threads;
  const auto blocks = static_cast<unsigned>((count + per_block - 1) / per_block);
  const std::size_t histogram = task.rates.R <= most_histogram ? task.rates.R * sizeof(unsigned) : 0;
  if (blocks > 0) draw_entries<STEPS, MODES><<<blocks, threads, histogram, stream()>>>(task, per_block);
  draw_several<STEPS, MODES><<<blocks_for(count / 4, threads, 3), threads, histogram, stream()>>>(task);
}

template <int MODES>
void launch_steps(const DrawTask& task) {
  const std::uint32_t R = task.rates.R;
  if (R <= 16)
    launch<1, MODES>(task);
  else if (R <= 32)
    launch<2, MODES>(task);
  else if (R <= 64)
    launch<4, MODES>(task);
  else if (R <= 112)
    launch<7, MODES>(task);
  else if (R <= 208)
    launch<13, MODES>(task);
  else
    launch<0, MODES>(task);
}

}  // namespace

DrawTask with_own_weights(DrawTask task) {
  task.rates.weight = task.weight;
  task.rates.log_weight = task.log_weight;
  return task;
}

int begin_draw(const DrawTask& task) {
  prepare<<<1, threads, 0, stream()>>>(task);
  return failed(cudaGetLastError());
}

int split_large_counts(const DrawTask& given) {
  const DrawTask task = with_own_weights(given);
  if (task.most_large == 0) return 0;  // they are split already
  split_listed<<<blocks_for(task.most_large / 16, large_threads / 32, 8), large_threads,
                 large_threads / 32 * task.rates.R * sizeof(float), stream()>>>(task);
  return failed(cudaGetLastError());
}

int draw_counts(const DrawTask& given) {
  if (begin_draw(given)) return 1;
  const DrawTask task = with_own_weights(given);
  if (task.expected) {
    launch_expected(task, blocks_for(task.cells.count, threads / group_size, 16));
    return failed(cudaGetLastError());
  }
  if (task.rates.K == 3 && task.rates.mode[0].column == nullptr)
    launch_steps<3>(task);
  else
    launch_steps<0>(task);
  return failed(cudaGetLastError()) || (given.splits_large && split_large_counts(given));
}

}  // namespace ztp::cuda
