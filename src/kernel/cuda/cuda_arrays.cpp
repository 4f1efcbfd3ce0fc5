#include "kernel/cuda/cuda_arrays.hpp"

#include <algorithm>
#include <limits>

#include "ztp/error.hpp"

namespace ztp::cuda {
namespace {

constexpr std::int64_t largest32 = std::numeric_limits<std::int32_t>::max();

const Api& api() {
  return *library().api;
}

// Rows of the host: packed, or those of a matrix.
template <class T>
struct HostRows {
  T* first;
  std::size_t stride;
  bool is_pinned = false;
};

template <class T>
void rows_to_host(const DeviceBuffer<T>& values, std::size_t columns, Range rows, const HostRows<T>& to) {
  const std::size_t stride = stride_of(columns);
  check(api().rows_to_host(to.first, to.stride * sizeof(T), values.data() + rows.begin * stride, stride * sizeof(T),
                           columns * sizeof(T), rows.size(), to.is_pinned),
        "rows to the host");
}

template <class T>
void rows_to_device(const DeviceBuffer<T>& values, std::size_t columns, Range rows, const HostRows<const T>& from) {
  const std::size_t stride = stride_of(columns);
  check(api().rows_to_device(values.data() + rows.begin * stride, stride * sizeof(T), from.first,
                             from.stride * sizeof(T), columns * sizeof(T), rows.size()),
        "rows to the GPU");
}

template <class T>
DeviceBuffer<T> zeros(std::size_t rows, std::size_t columns) {
  DeviceBuffer<T> values(rows * stride_of(columns));
  check(api().clear(values.data(), values.bytes()), "memory set to zero");
  return values;
}

}  // namespace

std::function<void(Range, float*)> Snapshots::take(const FactorArray& u) {
  std::unique_ptr<Snapshot> free;
  {
    const std::lock_guard lock(spare_->mutex);
    if (!spare_->snapshots.empty()) {
      free = std::move(spare_->snapshots.back());
      spare_->snapshots.pop_back();
    }
  }
  try {
    if (free == nullptr) free = std::make_unique<Snapshot>(u.rows * u.columns);
  } catch (const Error&) {
    return nullptr;
  }
  const auto give_back = [spare = spare_](Snapshot* done) {
    const std::lock_guard lock(spare->mutex);
    spare->snapshots.emplace_back(done);
  };
  const std::shared_ptr<Snapshot> snapshot(free.release(), give_back);
  check(api().take_snapshot(u, snapshot->values.data(), &snapshot->taken), "a copy of factors");
  return [snapshot, columns = u.columns](Range rows, float* values) {
    check(api().read_snapshot(snapshot->taken, snapshot->values.data() + rows.begin * columns, rows.size() * columns,
                              values),
          "rows to the host");
  };
}

CudaFactors::CudaFactors(std::size_t rows, std::size_t columns, RowPlace place)
    : Factors(rows, columns, place), values_(zeros<float>(rows, columns)) {}

void CudaFactors::settle() const {
  if (is_settled_) return;
  is_settled_ = true;
  ColumnTask all{};
  all.count = rows();
  check(api().scale_columns(all, factor.data(), unsettled()), "columns scaled");
}

void CudaFactors::read(Range rows, float* packed) const {
  settle();
  rows_to_host(values_, columns(), rows, {packed, columns()});
}

void CudaFactors::write(Range rows, const float* packed) {
  if (rows.size() < this->rows()) settle();
  is_settled_ = true;
  rows_to_device(values_, columns(), rows, {packed, columns()});
}

void CudaFactors::read_all(Matrix<float>& to, bool is_pinned) const {
  settle();
  rows_to_host(values_, columns(), {0, rows()}, {to.row(0), to.stride(), is_pinned});
}

void CudaFactors::write_all(const Matrix<float>& from) {
  is_settled_ = true;
  rows_to_device(values_, columns(), {0, rows()}, {from.row(0), from.stride()});
}

CudaCounts::CudaCounts(std::size_t rows, std::size_t columns, bool wide, RowPlace place)
    : Counts(rows, columns, place), wide_(wide) {
  if (wide)
    wide_values_ = zeros<std::int64_t>(rows, columns);
  else
    values_ = zeros<std::int32_t>(rows, columns);
}

void CudaCounts::read(Range rows, std::int64_t* packed) const {
  if (wide_) return rows_to_host(wide_values_, columns(), rows, {packed, columns()});
  std::vector<std::int32_t> narrow(rows.size() * columns());
  rows_to_host(values_, columns(), rows, {narrow.data(), columns()});
  std::copy(narrow.begin(), narrow.end(), packed);
}

void CudaCounts::write(Range rows, const std::int64_t* packed) {
  const std::size_t count = rows.size() * columns();
  if (count == 0) return;
  const auto [least, most] = std::minmax_element(packed, packed + count);
  largest_ = std::max(largest_, *most);
  // No count is negative, but a damaged file may say so: not to be cut off.
  if (largest_ > largest32 || *least < -largest32) widen();
  if (wide_) return rows_to_device(wide_values_, columns(), rows, {packed, columns()});
  std::vector<std::int32_t> narrow(count);
  std::transform(packed, packed + count, narrow.begin(),
                 [](std::int64_t value) { return static_cast<std::int32_t>(value); });
  rows_to_device(values_, columns(), rows, {narrow.data(), columns()});
}

void CudaCounts::read_all(Matrix<std::int32_t>& to, bool is_pinned) const {
  rows_to_host(values_, columns(), {0, rows()}, {to.row(0), to.stride(), is_pinned});
}
void CudaCounts::read_all(Matrix<std::int64_t>& to, bool is_pinned) const {
  rows_to_host(wide_values_, columns(), {0, rows()}, {to.row(0), to.stride(), is_pinned});
}
void CudaCounts::write_all(const Matrix<std::int32_t>& from) {
  largest_ = largest32;  // what it is, is not looked for
  rows_to_device(values_, columns(), {0, rows()}, {from.row(0), from.stride()});
}
void CudaCounts::write_all(const Matrix<std::int64_t>& from) {
  rows_to_device(wide_values_, columns(), {0, rows()}, {from.row(0), from.stride()});
}

void CudaCounts::clear() {
  forget();
  const CountArray all = array();
  check(api().clear(all.values, all.rows * all.stride * value_bytes()), "counts set to zero");
}

bool CudaCounts::fit_after(std::int64_t most) {
  if (wide_) return true;
  if (most > largest32 - std::min(largest_, largest32)) return false;
  largest_ += most;
  return true;
}

void CudaCounts::widen() {
  if (wide_) return;
  const CountArray narrow = array();
  wide_values_ = zeros<std::int64_t>(rows(), columns());
  wide_ = true;
  check(api().widen(narrow, array()) || api().wait(), "counts of 64 bits");
  values_ = {};
}

DeviceBuffer<std::uint32_t> SpareMemory::take(std::size_t size) {
  const std::lock_guard lock(mutex_);
  for (DeviceBuffer<std::uint32_t>& memory : spare_)
    if (memory.size() >= size && memory.size() / 2 <= size) {
      DeviceBuffer<std::uint32_t> taken = std::move(memory);
      std::swap(memory, spare_.back());
      spare_.pop_back();
      return taken;
    }
  return DeviceBuffer<std::uint32_t>(size);
}

void SpareMemory::give(DeviceBuffer<std::uint32_t> memory) {
  constexpr std::size_t most = 2;
  const std::lock_guard lock(mutex_);
  if (spare_.size() == most) spare_.erase(spare_.begin());
  spare_.push_back(std::move(memory));
}

CudaOnes::CudaOnes(const HostCells& cells, std::size_t modes, std::shared_ptr<SpareMemory> spare)
    : Ones(cells),
      spare_(std::move(spare)),
      has_counts_(cells.observed != nullptr),
      coords_(spare_->take(cells.count * modes)),
      of_host_(cells.numbers) {
  check(api().to_device_aside(coords_.data(), cells.coords, cells.count * modes * sizeof(std::uint32_t)), "ones");
  const auto send = [&](const auto* values, auto& to, const char* what) {
    to.reserve(cells.count);
    check(api().to_device_aside(to.data(), values, cells.count * sizeof *values), what);
  };
  if (has_counts_) send(cells.observed, observed_, "counts of ones");
  if (of_host_ != nullptr) send(of_host_, numbers_, "numbers of ones");
}

}  // namespace ztp::cuda
