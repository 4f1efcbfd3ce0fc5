#include "kernel/kernel.hpp"

#include "kernel/cpu/cpu_kernel.hpp"
#include "kernel/cuda/cuda_kernel.hpp"
#include "kernel/reference/reference_kernel.hpp"

namespace ztp {

std::vector<std::size_t> search_order(std::size_t R) {
  std::vector<std::size_t> order;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t r = lane; r < R; r += lanes) order.push_back(r);
  return order;
}

void Kernel::allocate_groups(std::span<CountGroup> groups, StreamKey key, const DrawSettings& settings) {
  for (CountGroup& group : groups) {
    DrawSettings with_parts = settings;
    with_parts.parts = &group.parts;
    group.log_likelihood = allocate(*group.ones, group.rates, key, with_parts, group.sums);
  }
}

std::unique_ptr<Kernel> make_kernel(KernelName name, Pool& pool) {
  if (name == KernelName::cuda) return make_cuda_kernel();
  return name == KernelName::reference ? make_reference_kernel() : make_cpu_kernel(pool);
}

std::unique_ptr<Kernel> make_device_kernel(double seconds, unsigned threads) {
  constexpr double seconds_to_begin = 3;  // a GPU takes about one to open, and draws have to go there
  return seconds > seconds_to_begin * threads && has_cuda() ? make_cuda_kernel() : nullptr;
}

}  // namespace ztp
