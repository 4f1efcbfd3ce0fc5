// Copies to the device while it computes.
#include <mutex>

#include "kernel/cuda/device/common.cuh"

namespace ztp::cuda {

int to_device_aside(void* memory, const void* host, std::size_t bytes) {
  static std::mutex one_at_a_time;
  static cudaStream_t aside = nullptr;
  if (bytes == 0) return 0;
  const std::lock_guard lock(one_at_a_time);
  if (aside == nullptr && failed(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking))) return 1;
  return failed(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, aside)) ||
         failed(cudaStreamSynchronize(aside));
}

int pin(void* host, std::size_t bytes) {
  return failed(cudaHostRegister(host, bytes, cudaHostRegisterDefault));
}

void unpin(void* host) {
  cudaHostUnregister(host);
}

}  // namespace ztp::cuda
