// Copies to and from the device while it computes.
#include <algorithm>
#include <cstring>
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

namespace {

__global__ void pack_rows(FactorArray u, float* packed) {
  const std::uint64_t all = u.rows * u.columns, step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += step)
    packed[i] = u.values[i / u.columns * u.stride + i % u.columns];
}

// Of a thread that reads snapshots: what it copies with. Pages that stay in place are several times as fast as others.
struct Reader {
  static constexpr std::size_t room = std::size_t{1} << 20;  // floats
  Reader() {
    bad = failed(use_device()) || failed(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking)) ||
          failed(cudaMallocHost(&pages, room * sizeof(float)));
  }
  ~Reader() {
    if (pages != nullptr) cudaFreeHost(pages);
    if (own != nullptr) cudaStreamDestroy(own);
  }
  cudaStream_t own = nullptr;
  float* pages = nullptr;
  int bad = 0;
};

}  // namespace

int take_snapshot(FactorArray u, float* packed, void** taken) {
  constexpr unsigned threads = 256;
  auto* event = static_cast<cudaEvent_t*>(*taken);
  if (event == nullptr) {
    event = new cudaEvent_t;
    if (failed(cudaEventCreateWithFlags(event, cudaEventDisableTiming))) {
      delete event;
      return 1;
    }
    *taken = event;
  }
  pack_rows<<<blocks_for(u.rows * u.columns, threads, 16), threads, 0, stream()>>>(u, packed);
  return failed(cudaGetLastError()) || failed(cudaEventRecord(*event, stream()));
}

int read_snapshot(void* taken, const float* packed, std::size_t count, float* host) {
  thread_local Reader reader;
  if (reader.bad || failed(cudaStreamWaitEvent(reader.own, *static_cast<cudaEvent_t*>(taken)))) return 1;
  for (std::size_t first = 0; first < count; first += Reader::room) {
    const std::size_t here = std::min(count - first, Reader::room);
    if (failed(
            cudaMemcpyAsync(reader.pages, packed + first, here * sizeof(float), cudaMemcpyDeviceToHost, reader.own)) ||
        failed(cudaStreamSynchronize(reader.own)))
      return 1;
    std::memcpy(host + first, reader.pages, here * sizeof(float));
  }
  return 0;
}

void forget_snapshot(void* taken) {
  auto* event = static_cast<cudaEvent_t*>(taken);
  if (event == nullptr) return;
  cudaEventDestroy(*event);
  delete event;
}

int pin(void* host, std::size_t bytes) {
  return failed(cudaHostRegister(host, bytes, cudaHostRegisterDefault));
}

void unpin(void* host) {
  cudaHostUnregister(host);
}

}  // namespace ztp::cuda
