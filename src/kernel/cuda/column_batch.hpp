// Columns of several matrices, drawn together on a GPU while the host does something else.                         (M5)
#pragma once
#include <vector>

#include "kernel/cuda/cuda_arrays.hpp"

namespace ztp::cuda {

class ColumnBatch {
 public:
  void add(const ColumnTask& task, const Streams& streams, CudaFactors& u);
  // What has been added is drawn. Nothing, if there is nothing.
  void start();
  // What the columns of u add up to. Waits until all of them are drawn.
  std::vector<double> take(const CudaFactors& u);

 private:
  struct Entry {
    const CudaFactors* u;
    ColumnJob job;
    std::size_t at;  // of its sums
  };
  std::vector<Entry> waiting_, drawn_;
  DeviceBuffer<double> sums_;
  std::vector<double> host_sums_;  // of those that are drawn; empty: not fetched yet
};

}  // namespace ztp::cuda
