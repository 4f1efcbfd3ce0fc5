// Latent counts on a GPU: one or several groups of ones, drawn in one go.
#pragma once
#include <span>
#include <vector>

#include "kernel/cuda/cuda_arrays.hpp"

namespace ztp::cuda {

// Small arrays of the host, sent to the device together.
class Staging {
 public:
  // Where these values will be: an offset, until send() tells the address.
  template <class T>
  std::size_t add(const T* values, std::size_t count) {
    const std::size_t at = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(at + count * sizeof(T));
    if (count > 0) std::memcpy(bytes_.data() + at, values, count * sizeof(T));
    return at;
  }
  const unsigned char* send() {
    device_.write(bytes_.data(), bytes_.size());
    bytes_.clear();
    return device_.data();
  }

 private:
  std::vector<unsigned char> bytes_;
  DeviceBuffer<unsigned char> device_;
};

// Rates whose small arrays are being staged.
class StagedRates {
 public:
  StagedRates(const Rates& rates, Staging& staging);
  // When they are there. counts: of each matrix, or none.
  RateArrays arrays(const unsigned char* sent, const std::vector<Counts*>& counts) const;
  // The same with factors as they were drawn, and what they are still to be multiplied by.
  RateArrays unsettled(const unsigned char* sent, const std::vector<Counts*>& counts) const;

 private:
  RateArrays make(const unsigned char* sent, const std::vector<Counts*>& counts, bool settled) const;

  const Rates* rates_;
  std::size_t weight_ = 0, log_weight_ = 0;
  std::vector<std::size_t> column_;  // of each mode; empty: columns are components
};

class CountDrawer {
 public:
  void reserve(std::size_t ones) { work_.reserve(2 * ones); }
  void draw(std::span<CountGroup> groups, const Streams& streams, const DrawSettings& settings, bool wants_parts);
  void draw_at_random(const CudaOnes& ones, const Streams& streams, const CountSums& sums);
  Staging& staging() { return staging_; }

 private:
  std::vector<DrawTask> make_tasks(std::span<CountGroup> groups, const Streams& streams, const DrawSettings& settings,
                                   bool wants_parts, std::size_t parts_per_entry);
  void run(std::vector<DrawTask>& tasks, std::span<CountGroup> groups);
  DrawnHeader header_of(std::size_t g) const;
  void take_back(std::vector<DrawTask> tasks);
  void collect(const DrawTask& task, std::size_t g, bool wants_parts, CountGroup& group);

  Staging staging_;
  DeviceBuffer<std::uint32_t> work_, large_, components_;
  DeviceBuffer<EntryPart> parts_;
  DeviceBuffer<float> weights_;  // of each group: they make up for factors that are still to be scaled
  DeviceBuffer<double> log_weights_;
  DeviceBuffer<unsigned char> results_;  // of each group, its header and totals
  std::vector<unsigned char> host_results_;
  std::vector<std::size_t> result_at_;
  bool had_large_ = false;  // counts that are split by binomials, in the last call
};

}  // namespace ztp::cuda
