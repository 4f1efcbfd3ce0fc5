// libztp_cuda.so, loaded when it is asked for: the program itself needs nothing of CUDA.
#pragma once
#include <cstddef>
#include <string>

#include "kernel/cuda/device_api.hpp"

namespace ztp::cuda {

struct Library {
  const Api* api = nullptr;
  std::string missing;      // if there is none: why, in words, and what helps
  std::string device_name;  // of the GPU
  int device = 0;           // its number
  std::size_t devices = 0;  // that this process could use
};

// Loads the library and opens a GPU, once; later calls give the same. Ranks on one machine take its GPUs in turn.
const Library& library();

// Throws Error (config), if an operation has failed: with what the device says, and what would fit, if it is memory.
void check(int failed, const std::string& what);

// Memory of the device.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) { reserve(size); }
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  // At least so many values; what was there is lost, if there were fewer.
  void reserve(std::size_t size) {
    if (size <= size_ && data_ != nullptr) return;
    release();
    void* memory = nullptr;
    check(library().api->allocate(size * sizeof(T), &memory), "memory of the GPU");
    data_ = static_cast<T*>(memory);
    size_ = size;
  }
  void write(const T* host, std::size_t count) {
    reserve(count);
    if (count > 0) check(library().api->to_device(data_, host, count * sizeof(T)), "a copy to the GPU");
  }
  void read(T* host, std::size_t count) const {
    if (count > 0) check(library().api->to_host(host, data_, count * sizeof(T)), "a copy from the GPU");
  }

 private:
  void release() {
    if (data_ != nullptr) library().api->release(data_);
    data_ = nullptr;
    size_ = 0;
  }
  void swap(DeviceBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ztp::cuda
