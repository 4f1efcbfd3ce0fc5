// Latent counts of the cells, and where they are added.                                       (M3), (M4), (M17), (M26)
//
// Three kernels one after the other. `draw_entries` computes the rate of every entry and finds the component of its
// unit; that is all for most. Entries whose count may be another than one go to a list, for `draw_several`, and those
// whose rate floats do not hold to another, for `draw_in_logs`. All sums of counts are of integers, and so do not
// depend on the order; log-likelihoods are added up in a fixed one.
#include "kernel/cuda/device/common.cuh"
#include "kernel/cuda/search.hpp"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = 256;
constexpr std::uint32_t most_histogram = 4096;  // components whose totals fit in the memory that a block shares
constexpr std::uint64_t no_entry = ~std::uint64_t{0};

// The products of an entry, thread by thread: kept in registers for up to 16 STEPS components, else computed again when
// they are needed (STEPS = 0). MODES: how many, 0: any number.
// weight: those of this thread's components, if they are kept.
template <int STEPS>
using Weights = float[STEPS == 0 ? 1 : STEPS];

template <int STEPS, int MODES>
struct Products {
  const RateArrays& rates;
  std::uint32_t cell[MODES == 0 ? 1 : MODES];
  const std::uint32_t* coords;
  float p[STEPS == 0 ? 1 : STEPS];
  float sum;  // of this thread

  __device__ Products(const RateArrays& of, const std::uint32_t* at, const Group& group, const Weights<STEPS>& weight)
      : rates(of), coords(at) {
    if constexpr (MODES > 0)
      for (int k = 0; k < MODES; ++k) cell[k] = at[k];
    sum = 0;
    if constexpr (STEPS == 0) {
      for (std::uint32_t r = group.l; r < rates.R; r += group_size) sum += of_component(r);
    } else {
#pragma unroll
      for (int s = 0; s < STEPS; ++s) {
        const std::uint32_t r = group.l + group_size * s;
        p[s] = r < rates.R ? times_factors(weight[s], r) : 0.0f;
        sum += p[s];
      }
    }
  }

  __device__ float times_factors(float value, std::uint32_t r) const {
    if constexpr (MODES == 0) {
      for (std::uint32_t k = 0; k < rates.K; ++k) value *= factor(rates.mode[k], coords[k], r);
    } else {
#pragma unroll
      for (int k = 0; k < MODES; ++k)
        value *= __ldg(rates.mode[k].u + static_cast<std::uint64_t>(cell[k]) * rates.mode[k].stride + r);
    }
    return value;
  }
  __device__ float of_component(std::uint32_t r) const {
    return times_factors(rates.weight[r], r);
  }

  // The component at `target` in the running sum of all of them; never one whose share is zero.
  // running: of this thread's and those before it.
  __device__ std::uint32_t find(const Group& group, float running, double target) const {
    const unsigned beyond = group.which(static_cast<double>(running) > target);
    const unsigned winner = lane_of(beyond, beyond != 0 ? 0 : group.which(sum > 0));
    const float before = __shfl_up_sync(group.mask, running, 1, group_size);
    double rest = group.from(group.l == 0 ? target : target - static_cast<double>(before), winner);
    if constexpr (STEPS > 0) {
      return group.from(group.l + group_size * place_in_lane(p, static_cast<float>(rest)), winner);
    } else {
      // The components of the winner, sixteen at a time.
      std::uint32_t last = winner;
      for (std::uint32_t base = winner; base < rates.R; base += group_size * group_size) {
        const std::uint32_t r = base + group.l * group_size;
        const float value = r < rates.R ? of_component(r) : 0.0f;
        double upto = static_cast<double>(value);
        for (unsigned step = 1; step < group_size; step *= 2) {
          const double other = __shfl_up_sync(group.mask, upto, step, group_size);
          if (group.l >= step) upto += other;
        }
        const unsigned past = group.which(upto > rest);
        const unsigned positive = group.which(value > 0);
        if (positive != 0) last = base + (31 - __clz(static_cast<int>(positive))) * group_size;
        if (past != 0) return base + (__ffs(static_cast<int>(past)) - 1) * group_size;
        rest -= group.from(upto, group_size - 1);
      }
      return last;
    }
  }
};

// A count of component r of entry e: in all modes, in the totals and in the list of parts.
__device__ void add_part(const DrawTask& task, std::uint64_t e, std::uint32_t r, std::int64_t count,
                         std::uint32_t order) {
  const std::uint32_t* cell = task.cells.coords + e * task.rates.K;
  for (std::uint32_t k = 0; k < task.rates.K; ++k) {
    const ModeArrays& mode = task.rates.mode[k];
    add_to(mode.counts, mode.wide,
           static_cast<std::uint64_t>(cell[k]) * mode.stride + (mode.column == nullptr ? r : mode.column[r]),
           count * task.unit);
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(task.totals) + r, static_cast<unsigned long long>(count * task.unit));
  if (task.parts == nullptr) return;
  const std::uint64_t place = atomicAdd(reinterpret_cast<unsigned long long*>(&task.header->parts), 1ull);
  if (place < task.most_parts) task.parts[place] = {static_cast<std::uint32_t>(e), r, order, count};
}

// Where an entry goes in a list: one atomic operation for all threads of a warp that have one.
__device__ void append(bool has_one, std::uint32_t entry, std::uint64_t* count, std::uint32_t* list) {
  const unsigned all = __ballot_sync(0xffffffffu, has_one);
  if (all == 0) return;
  const unsigned lane = threadIdx.x % 32, leader = __ffs(static_cast<int>(all)) - 1;
  unsigned long long first = 0;
  if (lane == leader) first = atomicAdd(reinterpret_cast<unsigned long long*>(count), __popc(all));
  first = __shfl_sync(0xffffffffu, first, static_cast<int>(leader));
  if (has_one) list[first + __popc(all & ((1u << lane) - 1))] = entry;
}

__device__ double log_likelihood_of(const CellArrays& cells, double z, double log_z, std::int64_t y) {
  if (cells.missing) return z;
  if (cells.observed != nullptr) return static_cast<double>(y) * log_z - log_factorial(static_cast<double>(y));
  return z < 1e-300 ? log_z : log_expm1(z);
}

// The sum over a block, in a fixed order.
__device__ void write_block_sum(double value, double* block_sums) {
  __shared__ double of_warp[threads / 32];
  for (unsigned step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (unsigned w = 0; w < threads / 32; ++w) sum += of_warp[w];
    block_sums[blockIdx.x] = sum;
  }
}

// A warp takes 32 entries: each thread has the random numbers and the result of one, and the two groups of the warp
// compute the products of one after another.
template <int STEPS, int MODES>
__global__ void __launch_bounds__(threads) draw_entries(const DrawTask task, double* block_sums) {
  extern __shared__ unsigned histogram[];
  const RateArrays& rates = task.rates;
  const CellArrays& cells = task.cells;
  const bool shared_totals = rates.R <= most_histogram;
  for (std::uint32_t r = threadIdx.x; shared_totals && r < rates.R; r += threads) histogram[r] = 0;
  __syncthreads();
  const Group group;
  const unsigned lane = threadIdx.x % 32, side = lane / group_size;
  Weights<STEPS> weight = {};
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    weight[s] = group.l + group_size * s < rates.R ? rates.weight[group.l + group_size * s] : 0.0f;
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * (threads / 32);
  double log_likelihood = 0;
  for (std::uint64_t begin = (blockIdx.x * (threads / 32) + threadIdx.x / 32) * std::uint64_t{32}; begin < cells.count;
       begin += warps * 32) {
    const std::uint64_t e = begin + lane;
    const bool is_there = e < cells.count;
    const auto word = random_block(task.key, task.t, cells.first + e, 0);
    const double first = to_uniform(word[0] | static_cast<std::uint64_t>(word[1]) << 32);
    const double second = to_uniform(word[2] | static_cast<std::uint64_t>(word[3]) << 32);
    const std::int64_t y = cells.observed != nullptr && is_there ? cells.observed[e] : 1;
    const double place = cells.observed != nullptr ? first : second;
    float total = 0;
    std::uint32_t component = 0;
    // Two at a time, so that one waits for memory while the other is added up.
    for (unsigned i = 0; i < group_size; i += 2) {
      const std::uint64_t entry = begin + side * group_size + i;
      const std::uint32_t* const at = cells.coords + (entry < cells.count ? entry : begin) * rates.K;
      const std::uint32_t* const next = entry + 1 < cells.count ? at + rates.K : at;
      const Products<STEPS, MODES> of_this(rates, at, group, weight), of_next(rates, next, group, weight);
      const auto finish = [&](const Products<STEPS, MODES>& products, unsigned which) {
        const float running = group.running_sum(products.sum), sum = group.from(running, group_size - 1);
        const double target = group.from(place, which) * static_cast<double>(sum);
        const std::uint32_t found = cells.missing ? 0 : products.find(group, running, target);
        if (group.l == which) {
          total = sum;
          component = found;
        }
      };
      finish(of_this, i);
      finish(of_next, i + 1);
    }
    const double z = rates.scale * static_cast<double>(total);
    const bool holds = floats_hold(static_cast<double>(total), z);
    const bool one = cells.observed != nullptr ? y == 1 : !cells.missing && first <= 1 - z;
    const bool nothing = cells.missing && first <= 1 - z;
    const bool is_unit = is_there && holds && one;
    append(is_there && holds && !one && !nothing, static_cast<std::uint32_t>(e), &task.header->several, task.work);
    append(is_there && !holds, static_cast<std::uint32_t>(e), &task.header->in_logs, task.work + cells.count);
    if (is_there && holds) log_likelihood += log_likelihood_of(cells, z, cells.observed != nullptr ? log(z) : 0.0, y);
    if (task.component != nullptr && is_there) task.component[e] = is_unit ? component : none;
    if (!is_unit) continue;
    for (std::uint32_t k = 0; k < rates.K; ++k) {
      const ModeArrays& mode = rates.mode[k];
      const std::uint32_t column = mode.column == nullptr ? component : mode.column[component];
      add_to(mode.counts, mode.wide, static_cast<std::uint64_t>(cells.coords[e * rates.K + k]) * mode.stride + column,
             task.unit);
    }
    if (shared_totals)
      atomicAdd(histogram + component, 1u);
    else
      atomicAdd(reinterpret_cast<unsigned long long*>(task.totals) + component,
                static_cast<unsigned long long>(task.unit));
  }
  write_block_sum(log_likelihood, block_sums);
  for (std::uint32_t r = threadIdx.x; shared_totals && r < rates.R; r += threads)
    if (histogram[r] != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(task.totals) + r,
                static_cast<unsigned long long>(histogram[r] * task.unit));
}

// The count of an entry with rate z.
__device__ std::int64_t draw_count(Stream& stream, const CellArrays& cells, std::uint64_t e, double z) {
  if (cells.missing) return draw_poisson(stream, z);
  return cells.observed != nullptr ? cells.observed[e] : draw_zero_truncated_poisson(stream, z);
}

// Whether the units of an entry are searched for one by one, as kernel/entry_draw.hpp has it; and their order in the
// list of parts: observed counts come component by component.
constexpr std::int64_t most_searched = 128;
__device__ bool is_searched(const CellArrays& cells, std::int64_t y) {
  return y <= (cells.observed != nullptr ? most_searched : most_searched_units);
}
__device__ std::uint32_t order_of_unit(const CellArrays& cells, std::uint32_t r, std::int64_t unit) {
  return cells.observed != nullptr ? r : static_cast<std::uint32_t>(unit);
}

// draw_multinomial for a group, all of whose threads draw the same numbers, from the shares of components.
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

// Entries that may have another count than one, a group for each. They are few, and products are not kept.
__global__ void __launch_bounds__(threads) draw_several(const DrawTask task) {
  const CellArrays& cells = task.cells;
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  for (std::uint64_t i = blockIdx.x * (threads / group_size) + threadIdx.x / group_size; i < task.header->several;
       i += groups) {
    const std::uint64_t e = task.work[i];
    Stream stream(task.key, task.t, cells.first + e);
    const Products<0, 0> products(task.rates, cells.coords + e * task.rates.K, group, {0.0f});
    const float running = group.running_sum(products.sum);
    const double total = static_cast<double>(group.from(running, group_size - 1));
    const std::int64_t y = draw_count(stream, cells, e, task.rates.scale * total);
    if (is_searched(cells, y)) {
      for (std::int64_t unit = 0; unit < y; ++unit) {
        const std::uint32_t r = products.find(group, running, stream.uniform() * total);
        if (group.l == 0) add_part(task, e, r, 1, order_of_unit(cells, r, unit));
      }
      continue;
    }
    split_by_binomials(
        stream, y, task.rates.R, [&](std::uint32_t r) { return static_cast<double>(products.of_component(r)); },
        [&](std::uint32_t r, std::int64_t part, std::uint32_t order) {
          if (group.l == 0) add_part(task, e, r, part, order);
        });
  }
}

// Entries whose rate floats do not hold, as PlainDraw of kernel/entry_draw.hpp, a group for each.
__global__ void __launch_bounds__(threads) draw_in_logs(const DrawTask task) {
  const CellArrays& cells = task.cells;
  const RateArrays& rates = task.rates;
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  for (std::uint64_t i = blockIdx.x * (threads / group_size) + threadIdx.x / group_size; i < task.header->in_logs;
       i += groups) {
    const std::uint64_t e = task.work[cells.count + i];
    const std::uint32_t* cell = cells.coords + e * rates.K;
    double largest, log_likelihood = 0;
    const double log_z = log_rate(group, rates, cell, largest);
    const std::int64_t observed = cells.observed != nullptr ? cells.observed[e] : 1;
    Stream stream(task.key, task.t, cells.first + e);
    const auto add = [&](std::uint32_t r, std::int64_t part, std::uint32_t order) {
      if (group.l == 0) add_part(task, e, r, part, order);
    };
    const auto share = [&](std::uint32_t r) { return exp(log_product(rates, cell, r) - largest); };
    if (cells.missing && log_z < log_smallest_mean) {
      // surely zero
    } else if (task.anywhere && !cells.missing && log_z == -INFINITY) {
      add(static_cast<std::uint32_t>(stream.below(rates.R)), observed, 0);
    } else if (!isfinite(log_z)) {
      if (group.l == 0) atomicMin(reinterpret_cast<unsigned long long*>(&task.header->bad_entry), e);
    } else {
      const double z = exp(log_z);
      const std::int64_t y = draw_count(stream, cells, e, z);
      log_likelihood = log_likelihood_of(cells, z, log_z, y);
      if (!is_searched(cells, y)) {
        split_by_binomials(stream, y, rates.R, share, add);
      } else {
        double sum = 0;
        for (unsigned lane = 0; lane < group_size; ++lane)
          for (std::uint32_t r = lane; r < rates.R; r += group_size) sum += share(r);
        const double negligible = sum * 0x1p-54 / static_cast<double>(cells.observed != nullptr ? 1 : y);
        for (std::int64_t unit = 0; unit < y; ++unit) {
          double target = stream.uniform() * sum;
          std::uint32_t found = 0, last = 0;
          bool searching = true;
          for (unsigned lane = 0; lane < group_size && searching; ++lane)
            for (std::uint32_t r = lane; r < rates.R && searching; r += group_size) {
              const double value = share(r);
              if (value > negligible) last = r;
              if ((target -= value) < 0) {
                found = r;
                searching = false;
              }
            }
          const std::uint32_t r = searching ? last : found;
          add(r, 1, order_of_unit(cells, r, unit));
        }
      }
    }
    if (group.l != 0) continue;
    if (i < task.most_in_logs)
      task.in_logs[i] = {e, log_likelihood};
    else
      atomicAdd(&task.header->log_likelihood, log_likelihood);
  }
}

// Expectations instead of draws, added to every component of every entry.                                       (M26)
__global__ void __launch_bounds__(threads) expect_entries(const DrawTask task, double* block_sums) {
  const CellArrays& cells = task.cells;
  const RateArrays& rates = task.rates;
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  double log_likelihood = 0;
  for (std::uint64_t e = blockIdx.x * (threads / group_size) + threadIdx.x / group_size; e < cells.count; e += groups) {
    const std::uint32_t* cell = cells.coords + e * rates.K;
    double sum = 0, largest = 0;
    for (std::uint32_t r = group.l; r < rates.R; r += group_size) sum += static_cast<double>(product(rates, cell, r));
    sum = group.sum(sum);
    double z = rates.scale * sum, log_z = 0;
    const bool holds = floats_hold(sum, z);
    bool nowhere = false;
    if (!holds) {
      log_z = log_rate(group, rates, cell, largest);
      if (isnan(log_z) || log_z == INFINITY) {
        if (group.l == 0) atomicMin(reinterpret_cast<unsigned long long*>(&task.header->bad_entry), e);
        continue;
      }
      nowhere = log_z == -INFINITY;
      z = exp(log_z);
      sum = nowhere ? rates.R : exp(log_z - largest);
    } else if (cells.observed != nullptr) {
      log_z = log(z);
    }
    const std::int64_t y = cells.observed != nullptr ? cells.observed[e] : 1;
    const double count = cells.missing               ? z
                         : cells.observed != nullptr ? static_cast<double>(y)
                         : z < 1e-300                ? 1
                                                     : z / -expm1(-z);
    for (std::uint32_t r = group.l; r < rates.R; r += group_size) {
      const double share = nowhere ? 1
                           : holds ? static_cast<double>(product(rates, cell, r))
                                   : exp(log_product(rates, cell, r) - largest);
      const std::int64_t added = llround(count * share / sum * static_cast<double>(task.unit));
      if (added == 0) continue;
      for (std::uint32_t k = 0; k < rates.K; ++k) {
        const ModeArrays& mode = rates.mode[k];
        add_to(mode.counts, mode.wide,
               static_cast<std::uint64_t>(cell[k]) * mode.stride + (mode.column == nullptr ? r : mode.column[r]),
               added);
      }
      atomicAdd(reinterpret_cast<unsigned long long*>(task.totals) + r, static_cast<unsigned long long>(added));
    }
    if (group.l == 0 && !nowhere) log_likelihood += log_likelihood_of(cells, z, log_z, y);
  }
  write_block_sum(log_likelihood, block_sums);
}

__global__ void random_components(const DrawTask task) {
  const std::uint64_t all = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t e = blockIdx.x * blockDim.x + threadIdx.x; e < task.cells.count; e += all) {
    const auto r = static_cast<std::uint32_t>(Stream(task.key, 0, task.cells.first + e).below(task.rates.R));
    add_part(task, e, r, task.cells.observed != nullptr ? task.cells.observed[e] : 1, 0);
  }
}

struct FactorsToFold {
  const float* of_mode[most_modes];
};

__global__ void fold(const RateArrays rates, const FactorsToFold factors, float* weight, double* log_weight) {
  for (std::uint32_t r = blockIdx.x * threads + threadIdx.x; r < rates.R; r += gridDim.x * threads) {
    float product = rates.weight[r];
    double sum = rates.log_weight[r];
    for (std::uint32_t k = 0; k < rates.K; ++k) {
      if (factors.of_mode[k] == nullptr) continue;
      const float factor = factors.of_mode[k][rates.mode[k].column == nullptr ? r : rates.mode[k].column[r]];
      product *= factor;
      sum += log(static_cast<double>(factor));
    }
    weight[r] = product;
    log_weight[r] = sum;
  }
}

__global__ void begin_draw(const DrawTask task) {
  for (std::uint32_t r = threadIdx.x; r < task.rates.R; r += blockDim.x) task.totals[r] = 0;
  if (threadIdx.x == 0) *task.header = {0, 0, 0, 0, no_entry};
}

__global__ void end_draw(const DrawTask task, const double* block_sums, unsigned blocks) {
  __shared__ double of_thread[threads];
  double sum = 0;
  for (unsigned b = threadIdx.x; b < blocks; b += threads) sum += block_sums[b];
  of_thread[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sum = 0;
  for (const double value : of_thread) sum += value;
  task.header->log_likelihood += sum;
}

// Room for the sums of the blocks of one call.
constexpr unsigned most_blocks = 32768;
double* room_for_block_sums() {
  static double* const room = [] {
    double* memory = nullptr;
    return failed(cudaMalloc(&memory, most_blocks * sizeof(double))) ? nullptr : memory;
  }();
  return room;
}

template <int STEPS, int MODES>
void launch(const DrawTask& task, unsigned blocks, double* block_sums) {
  const std::size_t histogram = task.rates.R <= most_histogram ? task.rates.R * sizeof(unsigned) : 0;
  draw_entries<STEPS, MODES><<<blocks, threads, histogram, stream()>>>(task, block_sums);
  draw_several<<<blocks_for(task.cells.count / 4, threads / group_size, 4), threads, 0, stream()>>>(task);
}

template <int MODES>
void launch_steps(const DrawTask& task, unsigned blocks, double* block_sums) {
  const std::uint32_t R = task.rates.R;
  if (R <= 16)
    launch<1, MODES>(task, blocks, block_sums);
  else if (R <= 32)
    launch<2, MODES>(task, blocks, block_sums);
  else if (R <= 64)
    launch<4, MODES>(task, blocks, block_sums);
  else if (R <= 112)
    launch<7, MODES>(task, blocks, block_sums);
  else
    launch<0, MODES>(task, blocks, block_sums);
}

}  // namespace

int fold_weights(const RateArrays& rates, const float* const* factor, float* weight, double* log_weight) {
  FactorsToFold factors{};
  for (std::uint32_t k = 0; k < rates.K; ++k) factors.of_mode[k] = factor[k];
  fold<<<blocks_for(rates.R, threads, 4), threads, 0, stream()>>>(rates, factors, weight, log_weight);
  return failed(cudaGetLastError());
}

int draw_counts(const DrawTask& task) {
  begin_draw<<<1, threads, 0, stream()>>>(task);
  double* const block_sums = room_for_block_sums();
  if (block_sums == nullptr) return 1;
  if (task.expected) {
    const unsigned blocks = blocks_for(task.cells.count, threads / group_size, 16);
    expect_entries<<<blocks, threads, 0, stream()>>>(task, block_sums);
    end_draw<<<1, threads, 0, stream()>>>(task, block_sums, blocks);
    return failed(cudaGetLastError());
  }
  const unsigned blocks = blocks_for(task.cells.count, threads, 64);  // they end at different times
  const bool shared = task.rates.mode[0].column != nullptr;
  if (task.rates.K == 3 && !shared)
    launch_steps<3>(task, blocks, block_sums);
  else
    launch_steps<0>(task, blocks, block_sums);
  draw_in_logs<<<blocks_for(task.cells.count, threads / group_size, 4), threads, 0, stream()>>>(task);
  end_draw<<<1, threads, 0, stream()>>>(task, block_sums, blocks);
  return failed(cudaGetLastError());
}

int allocate_at_random(const DrawTask& task) {
  begin_draw<<<1, threads, 0, stream()>>>(task);
  random_components<<<blocks_for(task.cells.count, threads, 16), threads, 0, stream()>>>(task);
  return failed(cudaGetLastError());
}

}  // namespace ztp::cuda
