// Counts that are placed on rows, and what is done to all counts of a matrix.                       (M12), (M18), (M25)
#include "kernel/cuda/device/common.cuh"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr std::uint64_t rows_per_place = 256;  // as kernel/kernel.hpp has it

__device__ double wanted(const FactorArray& u, const RowsMask& mask, std::uint64_t row, std::uint32_t q, int power) {
  if (mask.mask != nullptr && mask.mask[row] != mask.wanted) return 0;
  const double value = static_cast<double>(u.values[row * u.stride + q]);
  return power == 2 ? value * value : value;
}

// A thread for each block of rows and column, one row after another.
__global__ void sum_places(FactorArray u, RowsMask mask, int power, double* of_blocks) {
  const std::uint64_t begin = blockIdx.x * rows_per_place;
  const std::uint64_t end = begin + rows_per_place < u.rows ? begin + rows_per_place : u.rows;
  for (std::uint32_t q = threadIdx.x; q < u.columns; q += threads) {
    double sum = 0;
    for (std::uint64_t row = begin; row < end; ++row) sum += wanted(u, mask, row, q, power);
    of_blocks[blockIdx.x * static_cast<std::uint64_t>(u.columns) + q] = sum;
  }
}

__global__ void add_places(const double* of_blocks, std::uint64_t blocks, std::uint32_t columns, double* sums) {
  const std::uint32_t q = blockIdx.x * threads + threadIdx.x;
  if (q >= columns) return;
  double sum = 0;
  for (std::uint64_t b = 0; b < blocks; ++b) sum += of_blocks[b * columns + q];
  sums[q] = sum;
}

// draw_multinomial of model/distributions.hpp, with shares that are computed when they are needed.
template <class Share, class Add>
__device__ void split(Stream& stream, std::int64_t total, std::uint64_t count, const Share& share, const Add& add) {
  if (total <= 0) return;
  double left = 0;
  for (std::uint64_t i = 0; i < count; ++i) left += share(i);
  const double negligible = left * 0x1p-54 / static_cast<double>(total);
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    if (share(i) > negligible) last = i;
  if (total <= most_searched_units) {
    for (std::int64_t unit = 0; unit < total; ++unit) {
      double target = stream.uniform() * left;
      std::uint64_t i = 0;
      while (i < last && (target -= share(i)) >= 0) ++i;
      add(i, std::int64_t{1});
    }
    return;
  }
  for (std::uint64_t i = 0; i < count && total > 0; ++i) {
    const double of_row = share(i);
    if (of_row <= negligible) continue;
    const double p = i == last ? 1.0 : of_row / left;
    const std::int64_t part = p >= 1.0 ? total : draw_binomial(stream, total, p);
    if (part > 0) add(i, part);
    total -= part;
    left -= of_row;
  }
}

// How many counts each block of rows gets: a thread for each column.
__global__ void place_in_blocks(FactorArray u, const std::int64_t* totals, const double* of_blocks, StreamKey key,
                                std::uint32_t t, std::uint64_t blocks, std::int64_t* in_block) {
  const std::uint32_t q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= u.columns) return;
  for (std::uint64_t b = 0; b < blocks; ++b) in_block[b * u.columns + q] = 0;
  Stream stream(key, t, q);
  split(
      stream, totals[q], blocks, [&](std::uint64_t b) { return of_blocks[b * u.columns + q]; },
      [&](std::uint64_t b, std::int64_t part) { in_block[b * u.columns + q] += part; });
}

// And each row of it: a thread for each block and column.
__global__ void place_in_rows(FactorArray u, RowsMask mask, StreamKey key, std::uint32_t t, std::int64_t unit,
                              const std::int64_t* in_block, CountArray S) {
  const std::uint64_t b = blockIdx.x, begin = b * rows_per_place;
  const std::uint64_t rows = begin + rows_per_place < u.rows ? rows_per_place : u.rows - begin;
  for (std::uint32_t q = threadIdx.x; q < u.columns; q += threads) {
    Stream stream(key, t, ((b + 1) << 32) | q);
    split(
        stream, in_block[b * u.columns + q], rows, [&](std::uint64_t i) { return wanted(u, mask, begin + i, q, 1); },
        [&](std::uint64_t i, std::int64_t part) { add_to(S.values, S.wide, (begin + i) * S.stride + q, part * unit); });
  }
}

__global__ void place_diagonal(FactorArray u, const double* mean, StreamKey key, std::uint32_t t, std::int64_t unit,
                               CountArray S, std::int64_t* drawn) {
  const std::uint32_t q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= u.columns) return;
  Stream stream(key, t, q);
  const double n = static_cast<double>(u.rows);
  drawn[q] = draw_poisson(stream, mean[q]);
  split(
      stream, drawn[q], u.rows,
      [&](std::uint64_t row) {
        const double value = static_cast<double>(u.values[row * u.stride + q]) / n;
        return value * value;
      },
      [&](std::uint64_t row, std::int64_t part) { add_to(S.values, S.wide, row * S.stride + q, 2 * part * unit); });
}

template <class Body>
__global__ void for_places(std::uint64_t rows, std::uint32_t columns, Body body) {
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(threads) + threadIdx.x; i < rows * columns;
       i += static_cast<std::uint64_t>(gridDim.x) * threads)
    body(i / columns, static_cast<std::uint32_t>(i % columns));
}

template <class Body>
int run_for_places(std::uint64_t rows, std::uint32_t columns, const Body& body) {
  for_places<<<blocks_for(rows * columns, threads, 16), threads, 0, stream()>>>(rows, columns, body);
  return failed(cudaGetLastError());
}

unsigned place_blocks(const FactorArray& u) {
  return static_cast<unsigned>((u.rows + rows_per_place - 1) / rows_per_place);
}

}  // namespace

int block_sums(FactorArray u, RowsMask mask, int power, double* of_blocks, double* sums) {
  sum_places<<<place_blocks(u), threads, 0, stream()>>>(u, mask, power, of_blocks);
  add_places<<<(u.columns + threads - 1) / threads, threads, 0, stream()>>>(of_blocks, place_blocks(u), u.columns,
                                                                            sums);
  return failed(cudaGetLastError());
}

int place(FactorArray u, RowsMask mask, const std::int64_t* totals, const double* of_blocks, StreamKey key,
          std::uint32_t t, std::int64_t unit, std::int64_t* in_block, CountArray S) {
  const unsigned blocks = place_blocks(u);
  place_in_blocks<<<(u.columns + 31) / 32, 32, 0, stream()>>>(u, totals, of_blocks, key, t, blocks, in_block);
  place_in_rows<<<blocks, threads, 0, stream()>>>(u, mask, key, t, unit, in_block, S);
  return failed(cudaGetLastError());
}

int impute_diagonal(FactorArray u, const double* mean, StreamKey key, std::uint32_t t, std::int64_t unit, CountArray S,
                    std::int64_t* drawn) {
  place_diagonal<<<(u.columns + 7) / 8, 8, 0, stream()>>>(u, mean, key, t, unit, S, drawn);
  return failed(cudaGetLastError());
}

int spread(FactorArray u, RowsMask mask, int power, const double* factor, CountArray S) {
  return run_for_places(u.rows, u.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    const std::int64_t added = llround(factor[q] * wanted(u, mask, row, q, power));
    if (added != 0) static_cast<std::int64_t*>(S.values)[row * S.stride + q] += added;
  });
}

int shift(int bits, CountArray S) {
  return run_for_places(S.rows, S.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    std::int64_t& value = static_cast<std::int64_t*>(S.values)[row * S.stride + q];
    value = bits >= 0 ? value << bits : (value + (std::int64_t{1} << (-bits - 1))) >> -bits;
  });
}

int move(CountArray towards, double part, CountArray S) {
  return run_for_places(S.rows, S.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    std::int64_t& value = static_cast<std::int64_t*>(S.values)[row * S.stride + q];
    const std::int64_t other = count_at(towards, row * towards.stride + q);
    value += llround(part * static_cast<double>(other - value));
  });
}

int widen(CountArray narrow, CountArray wide) {
  return run_for_places(narrow.rows, narrow.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    static_cast<std::int64_t*>(wide.values)[row * wide.stride + q] = count_at(narrow, row * narrow.stride + q);
  });
}

int tally(CountArray S, std::uint64_t small, unsigned long long* count, std::int64_t* large, std::uint64_t most,
          unsigned long long* found) {
  return run_for_places(S.rows, S.columns, [=] __device__(std::uint64_t row, std::uint32_t q) {
    const std::int64_t value = count_at(S, row * S.stride + q);
    if (value <= 0) return;
    if (static_cast<std::uint64_t>(value) < small) {
      atomicAdd(count + value, 1ull);
      return;
    }
    const unsigned long long place = atomicAdd(found, 1ull);
    if (place < most) large[place] = value;
  });
}

}  // namespace ztp::cuda
