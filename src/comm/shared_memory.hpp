// Memory that the ranks of a group share, where all of them run on one machine.
#pragma once
#include <memory>

#include "comm/comm.hpp"

namespace ztp {

class SharedMemory {
 public:
  // So many bytes, all zero. All ranks call it together. Null on all of them, if one cannot reach it: they are on
  // several machines or in containers apart, or ZTP_SHARED_MEMORY=0 is in the environment of one. The system frees it
  // with its last process, however that ends.
  static std::unique_ptr<SharedMemory> make(Comm& comm, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void* data() const { return data_; }

 private:
  SharedMemory(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_;
  std::size_t bytes_;
};

}  // namespace ztp
