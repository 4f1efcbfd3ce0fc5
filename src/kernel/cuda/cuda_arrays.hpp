// Factors, counts and ones in the memory of a GPU.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernel/cuda/cuda_library.hpp"
#include "kernel/kernel.hpp"

namespace ztp::cuda {

// Copies of factors that threads read while the GPU goes on. Their memory is used again, for to ask the GPU for memory
// would wait for all its work.
class Snapshots {
 public:
  // Null, if there is no memory.
  std::function<void(Range, float*)> take(const FactorArray& u);

 private:
  struct Snapshot {
    explicit Snapshot(std::size_t size) : values(size) {}
    ~Snapshot() { library().api->forget_snapshot(taken); }
    DeviceBuffer<float> values;
    void* taken = nullptr;
  };
  struct Spare {
    std::mutex mutex;
    std::vector<std::unique_ptr<Snapshot>> snapshots;
  };
  std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
};

class CudaFactors final : public Factors {
 public:
  CudaFactors(std::size_t rows, std::size_t columns, RowPlace place);
  std::size_t bytes() const override { return values_.bytes(); }
  void read(Range rows, float* packed) const override;
  void write(Range rows, const float* packed) override;
  std::size_t values_at_once() const override { return std::size_t{1} << 20; }
  std::function<void(Range, float*)> snapshot() const override { return snapshots_.take(array()); }

  // All rows, from or to a matrix of the host.
  void read_all(Matrix<float>& to, bool is_pinned) const;
  void write_all(const Matrix<float>& from);

  // Where the values are, each as it should be.
  FactorArray array() const {
    settle();
    return unsettled();
  }
  // Columns that were just drawn still have to be multiplied by to_scale()[q], until something needs them as they
  // should be. The allocation does not, which saves a pass over all factors. Null: they are as they should be.
  FactorArray unsettled() const {
    return {values_.data(), rows(), first_row(), static_cast<std::uint32_t>(columns()), stride_of(columns())};
  }
  const float* to_scale() const { return is_settled_ ? nullptr : factor.data(); }
  void unsettle() { is_settled_ = false; }
  void settle() const;

  DeviceBuffer<double> block_sums;  // room for sums of blocks of rows
  DeviceBuffer<float> factor;       // what scales the columns

 private:
  mutable bool is_settled_ = true;
  mutable Snapshots snapshots_;
  DeviceBuffer<float> values_;
};

// In 32 bits for as long as that is certain to do, as HostCounts.
class CudaCounts final : public Counts {
 public:
  CudaCounts(std::size_t rows, std::size_t columns, bool wide, RowPlace place);
  std::size_t bytes() const override { return wide_ ? wide_values_.bytes() : values_.bytes(); }
  void read(Range rows, std::int64_t* packed) const override;
  void write(Range rows, const std::int64_t* packed) override;
  std::size_t values_at_once() const override { return std::size_t{1} << 20; }
  void clear() override;

  // All rows, from or to a matrix of the host whose values are as wide.
  void read_all(Matrix<std::int32_t>& to, bool is_pinned) const;
  void read_all(Matrix<std::int64_t>& to, bool is_pinned) const;
  void write_all(const Matrix<std::int32_t>& from);
  void write_all(const Matrix<std::int64_t>& from);

  bool wide() const { return wide_; }
  void widen();
  // Whether values that have grown by at most `most` are still certain to fit. If not, they may have wrapped around:
  // the caller takes back what was added, widens and adds again.
  bool fit_after(std::int64_t most);
  void forget() { largest_ = 0; }
  CountArray array() const {
    return {wide_ ? static_cast<void*>(wide_values_.data()) : static_cast<void*>(values_.data()), rows(),
            static_cast<std::uint32_t>(columns()), stride_of(columns()), wide_};
  }

 private:
  std::size_t value_bytes() const { return wide_ ? 8 : 4; }

  bool wide_;
  std::int64_t largest_ = 0;  // no value is larger
  DeviceBuffer<std::int32_t> values_;
  DeviceBuffer<std::int64_t> wide_values_;
};

// Memory that ones have left, for the next ones of their size: to ask the GPU for memory would wait for all its work.
class SpareMemory {
 public:
  DeviceBuffer<std::uint32_t> take(std::size_t size);
  void give(DeviceBuffer<std::uint32_t> memory);

 private:
  std::mutex mutex_;
  std::vector<DeviceBuffer<std::uint32_t>> spare_;
};

// Sent beside the work of the GPU, which goes on.
class CudaOnes final : public Ones {
 public:
  CudaOnes(const HostCells& cells, std::size_t modes, std::shared_ptr<SpareMemory> spare);
  ~CudaOnes() override { spare_->give(std::move(coords_)); }
  std::size_t bytes() const override { return coords_.bytes() + observed_.bytes() + numbers_.bytes(); }
  CellArrays array() const {
    return {coords_.data(),
            has_counts_ ? observed_.data() : nullptr,
            of_host_ == nullptr ? nullptr : numbers_.data(),
            count(),
            first(),
            missing()};
  }
  std::uint64_t number(std::size_t e) const { return of_host_ == nullptr ? first() + e : of_host_[e]; }
  bool has_counts() const { return has_counts_; }

 private:
  std::shared_ptr<SpareMemory> spare_;
  bool has_counts_;
  DeviceBuffer<std::uint32_t> coords_;
  DeviceBuffer<std::int64_t> observed_;
  const std::uint64_t* of_host_;  // numbers, if they do not follow each other
  DeviceBuffer<std::uint64_t> numbers_;
};

inline CudaFactors& on_device(Factors& factors) {
  return dynamic_cast<CudaFactors&>(factors);
}
inline const CudaFactors& on_device(const Factors& factors) {
  return dynamic_cast<const CudaFactors&>(factors);
}
inline CudaCounts& on_device(Counts& counts) {
  return dynamic_cast<CudaCounts&>(counts);
}
inline const CudaCounts& on_device(const Counts& counts) {
  return dynamic_cast<const CudaCounts&>(counts);
}
inline const CudaOnes& on_device(const Ones& ones) {
  return dynamic_cast<const CudaOnes&>(ones);
}

}  // namespace ztp::cuda
