// Latent counts where speed does not matter: of entries whose rate floats do not hold, expectations instead of draws,
// and the random start of a chain.                                                        (M3), (M4), (M17), (M26)
#include "kernel/cuda/device/entries.cuh"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = entry_threads;

__global__ void __launch_bounds__(threads) draw_in_logs(const DrawTask task) {
  const CellArrays& cells = task.cells;
  const RateArrays& rates = task.rates;
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  for (std::uint64_t i = blockIdx.x * (threads / group_size) + threadIdx.x / group_size; i < task.header->in_logs;
       i += groups) {
    const std::uint64_t e = task.work[cells.count - 1 - i];
    const std::uint32_t* cell = cells.coords + e * rates.K;
    double largest, log_likelihood = 0;
    const double log_z = log_rate(group, rates, cell, largest);
    const std::int64_t observed = cells.observed != nullptr ? cells.observed[e] : 1;
    Stream stream(task.key, task.t, number_of(cells, e));
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
    if (group.l == 0) add_large_term(task.header, log_likelihood);
  }
}

// Expectations instead of draws, added to every component of every entry.                                       (M26)
__global__ void __launch_bounds__(threads) expect_entries(const DrawTask task) {
  const CellArrays& cells = task.cells;
  const RateArrays& rates = task.rates;
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  LikelihoodSum log_likelihood;
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
    if (group.l == 0 && !nowhere) log_likelihood.add(task, log_likelihood_of(cells, z, log_z, y));
  }
  log_likelihood.flush(task);
}

__global__ void random_components(const DrawTask task) {
  const std::uint64_t all = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t e = blockIdx.x * blockDim.x + threadIdx.x; e < task.cells.count; e += all) {
    const auto r = static_cast<std::uint32_t>(Stream(task.key, 0, number_of(task.cells, e)).below(task.rates.R));
    add_part(task, e, r, task.cells.observed != nullptr ? task.cells.observed[e] : 1, 0);
  }
}

}  // namespace

int draw_counts_in_logs(const DrawTask& given) {
  const DrawTask task = with_own_weights(given);
  draw_in_logs<<<blocks_for(task.cells.count, threads / group_size, 4), threads, 0, stream()>>>(task);
  return failed(cudaGetLastError());
}

void launch_expected(const DrawTask& task, unsigned blocks) {
  expect_entries<<<blocks, threads, 0, stream()>>>(task);
}

int allocate_at_random(const DrawTask& task) {
  if (begin_draw(task)) return 1;
  random_components<<<blocks_for(task.cells.count, threads, 16), threads, 0, stream()>>>(task);
  return failed(cudaGetLastError());
}

}  // namespace ztp::cuda
