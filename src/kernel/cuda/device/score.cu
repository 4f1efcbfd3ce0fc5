// Rates of cells.                                                                                                 (M2)
#include "kernel/cuda/device/common.cuh"

namespace ztp::cuda {
namespace {

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads)
    score_cells(const RateArrays rates, const std::uint32_t* coords, std::uint64_t count, double* z) {
  const Group group;
  const std::uint64_t groups = static_cast<std::uint64_t>(gridDim.x) * (threads / group_size);
  for (std::uint64_t e = blockIdx.x * (threads / group_size) + threadIdx.x / group_size; e < count; e += groups) {
    const std::uint32_t* cell = coords + e * rates.K;
    double sum = 0;
    for (std::uint32_t r = group.l; r < rates.R; r += group_size) sum += static_cast<double>(product(rates, cell, r));
    sum = group.sum(sum);
    double largest;
    const double value =
        sum > smallest_float_rate && sum < 1e30 ? rates.scale * sum : exp(log_rate(group, rates, cell, largest));
    if (group.l == 0) z[e] = value;
  }
}

__global__ void score_components(const RateArrays rates, const std::uint32_t* coords, std::uint64_t count,
                                 double* parts) {
  const std::uint64_t all = count * rates.R;
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(threads) + threadIdx.x; i < all;
       i += static_cast<std::uint64_t>(gridDim.x) * threads) {
    const auto r = static_cast<std::uint32_t>(i % rates.R);
    const std::uint32_t* cell = coords + i / rates.R * rates.K;
    double value = rates.scale * static_cast<double>(rates.weight[r]);
    for (std::uint32_t k = 0; k < rates.K; ++k) value *= static_cast<double>(factor(rates.mode[k], cell[k], r));
    parts[i] = value;
  }
}

}  // namespace

int score(const RateArrays& rates, const std::uint32_t* coords, std::uint64_t count, double* z) {
  score_cells<<<blocks_for(count, threads / group_size, 16), threads, 0, stream()>>>(rates, coords, count, z);
  return failed(cudaGetLastError());
}

int score_parts(const RateArrays& rates, const std::uint32_t* coords, std::uint64_t count, double* parts) {
  score_components<<<blocks_for(count * rates.R, threads, 16), threads, 0, stream()>>>(rates, coords, count, parts);
  return failed(cudaGetLastError());
}

}  // namespace ztp::cuda
