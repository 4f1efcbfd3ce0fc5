// The table of functions of the library, and the memory of the device.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "kernel/cuda/device/common.cuh"

namespace ztp::cuda {
namespace {

thread_local std::string words;
cudaStream_t the_stream = nullptr;
int the_device = 0;
int processors = 1;

const char* error() {
  return words.c_str();
}

int devices(int* count) {
  return failed(cudaGetDeviceCount(count));
}

int use(int device) {
  return failed(cudaSetDevice(device));
}

int open(int device, char* name, std::size_t name_bytes) {
  cudaDeviceProp properties;
  if (failed(cudaSetDevice(device)) || failed(cudaGetDeviceProperties(&properties, device))) return 1;
  if (the_stream == nullptr && failed(cudaStreamCreateWithFlags(&the_stream, cudaStreamNonBlocking))) return 1;
  the_device = device;
  processors = properties.multiProcessorCount;
  std::snprintf(name, name_bytes, "%s", properties.name);
  return 0;
}

int memory(std::size_t* free, std::size_t* total) {
  return failed(cudaMemGetInfo(free, total));
}

int allocate(std::size_t bytes, void** address) {
  *address = nullptr;
  return failed(cudaMalloc(address, bytes == 0 ? 1 : bytes));
}
void release(void* memory) {
  cudaFree(memory);
}

int wait() {
  return failed(cudaStreamSynchronize(the_stream));
}

// Pages that stay in place, for small copies: without them each would take several times as long. What goes to the
// device lies in them until it is fetched, and so they are used one after another.
class Pages {
 public:
  static constexpr std::size_t size = std::size_t{1} << 20;
  // Room for so many bytes, if it is at most a quarter of all. Null: none.
  char* next(std::size_t bytes) {
    if (bytes > size / 4 || (pages_ == nullptr && cudaMallocHost(&pages_, size) != cudaSuccess)) return nullptr;
    if (used_ + bytes > size) {
      if (wait()) return nullptr;
      used_ = 0;
    }
    char* const room = pages_ + used_;
    used_ += (bytes + 63) / 64 * 64;
    return room;
  }

 private:
  char* pages_ = nullptr;
  std::size_t used_ = 0;
} pages;
std::mutex of_pages;

int clear(void* memory, std::size_t bytes) {
  return failed(cudaMemsetAsync(memory, 0, bytes, the_stream));
}
int to_device_later(void* memory, const void* host, std::size_t bytes) {
  return failed(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, the_stream));
}
int to_device(void* memory, const void* host, std::size_t bytes) {
  const std::lock_guard lock(of_pages);
  if (char* const room = pages.next(bytes)) {
    std::memcpy(room, host, bytes);
    return to_device_later(memory, room, bytes);
  }
  return to_device_later(memory, host, bytes) || wait();
}
int to_host(void* host, const void* memory, std::size_t bytes) {
  const std::lock_guard lock(of_pages);
  if (char* const room = pages.next(bytes)) {
    if (failed(cudaMemcpyAsync(room, memory, bytes, cudaMemcpyDeviceToHost, the_stream)) || wait()) return 1;
    std::memcpy(host, room, bytes);
    return 0;
  }
  return failed(cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDeviceToHost, the_stream)) || wait();
}
int copy(void* to, const void* from, std::size_t bytes) {
  return failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, the_stream));
}
int rows_to_device(void* memory, std::size_t stride, const void* host, std::size_t host_stride, std::size_t row_bytes,
                   std::size_t rows) {
  if (rows == 0) return 0;
  return failed(cudaMemcpy2DAsync(memory, stride, host, host_stride, row_bytes, rows, cudaMemcpyHostToDevice,
                                  the_stream)) ||
         wait();
}
int rows_to_pinned_host(void* host, std::size_t host_stride, const void* memory, std::size_t stride,
                        std::size_t row_bytes, std::size_t rows) {
  return failed(cudaMemcpy2DAsync(host, host_stride, memory, stride, row_bytes, rows, cudaMemcpyDeviceToHost,
                                  the_stream)) ||
         wait();
}
// To pages that are not pinned by way of some that are: several times as fast.
int rows_to_host(void* host, std::size_t host_stride, const void* memory, std::size_t stride, std::size_t row_bytes,
                 std::size_t rows, bool is_pinned) {
  constexpr std::size_t room = std::size_t{8} << 20;
  static char* staging = nullptr;
  if (rows == 0) return 0;
  if (is_pinned) return rows_to_pinned_host(host, host_stride, memory, stride, row_bytes, rows);
  const std::lock_guard lock(of_pages);
  if (row_bytes > room || (staging == nullptr && failed(cudaMallocHost(&staging, room))))
    return rows_to_pinned_host(host, host_stride, memory, stride, row_bytes, rows);
  const std::size_t most = row_bytes == 0 ? rows : room / row_bytes;
  for (std::size_t first = 0; first < rows; first += most) {
    const std::size_t here = std::min(most, rows - first);
    if (rows_to_pinned_host(staging, row_bytes, static_cast<const char*>(memory) + first * stride, stride, row_bytes,
                            here))
      return 1;
    char* const to = static_cast<char*>(host) + first * host_stride;
    if (host_stride == row_bytes)
      std::memcpy(to, staging, here * row_bytes);
    else
      for (std::size_t i = 0; i < here; ++i) std::memcpy(to + i * host_stride, staging + i * row_bytes, row_bytes);
  }
  return 0;
}

}  // namespace

int failed(cudaError_t status) {
  if (status == cudaSuccess) return 0;
  words = cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) words = "out of memory";
  cudaGetLastError();  // it has been told
  return 1;
}
cudaStream_t stream() {
  return the_stream;
}
cudaError_t use_device() {
  return cudaSetDevice(the_device);
}
int multiprocessors() {
  return processors;
}

int to_device_aside(void*, const void*, std::size_t);
int take_snapshot(FactorArray, float*, void**);
int read_snapshot(void*, const float*, std::size_t, float*);
void forget_snapshot(void*);
int pin(void*, std::size_t);
void unpin(void*);
int draw_counts(const DrawTask&);
int draw_counts_in_logs(const DrawTask&);
int split_large_counts(const DrawTask&);
int allocate_at_random(const DrawTask&);
int draw_gammas(const ColumnTask&, StreamKey, std::uint32_t, FactorArray);
int sum_columns(const ColumnTask&, FactorArray, double*, double*);
int sum_groups(const ColumnTask&, FactorArray, std::uint64_t, double*, double*);
int sum_listed_groups(const ColumnTask&, FactorArray, const std::uint32_t*, std::uint64_t, double*);
int add_groups(double*, std::uint64_t, std::uint32_t, double*);
int draw_columns(const ColumnJob*, std::size_t);
int scale_columns(const ColumnTask&, const float*, FactorArray);
int mean_columns(const ColumnTask&, const float*, FactorArray);
int draw_in_logs(const ColumnTask&, const std::uint32_t*, std::uint32_t, const double*, StreamKey, std::uint32_t,
                 FactorArray, double*, double*);
int log_gammas(const ColumnTask&, std::uint32_t, StreamKey, std::uint32_t, FactorArray, double*);
int normalise(double*, std::uint64_t, double, double*);
int write_column(const ColumnTask&, std::uint32_t, const double*, FactorArray);
int sum_counts(const ColumnTask&, std::int64_t*);
int block_sums(FactorArray, RowsMask, int, double*, double*);
int place(FactorArray, RowsMask, const std::int64_t*, const double*, StreamKey, std::uint32_t, std::int64_t,
          std::int64_t*, CountArray);
int impute_diagonal(FactorArray, const double*, StreamKey, std::uint32_t, std::int64_t, CountArray, std::int64_t*);
int spread(FactorArray, RowsMask, int, const double*, CountArray);
int shift(int, CountArray);
int move(CountArray, double, CountArray);
int widen(CountArray, CountArray);
int tally(CountArray, std::uint64_t, unsigned long long*, std::int64_t*, std::uint64_t, unsigned long long*);
int score(const RateArrays&, const std::uint32_t*, std::uint64_t, double*);
int score_parts(const RateArrays&, const std::uint32_t*, std::uint64_t, double*);
int score_listed(const ListedRates&, const std::uint32_t*, std::uint64_t, double*);
int add_candidates(const ListedRates&, FactorArray, const CandidateArrays&);
int end_chain(const CandidateArrays&, double);
int place_tests(const CandidateArrays&, const QueryEntity*, std::uint64_t, const QueryEntity*, std::uint64_t,
                QueryPlace*);

}  // namespace ztp::cuda

extern "C" __attribute__((visibility("default"))) const ztp::cuda::Api* ztp_cuda_api() {
  using namespace ztp::cuda;
  static const Api api = {
      .version = api_version,
      .error = error,
      .devices = devices,
      .open = open,
      .use = use,
      .memory = memory,
      .allocate = allocate,
      .release = release,
      .clear = clear,
      .to_device = to_device,
      .to_device_later = to_device_later,
      .to_device_aside = to_device_aside,
      .pin = pin,
      .unpin = unpin,
      .to_host = to_host,
      .rows_to_device = rows_to_device,
      .rows_to_host = rows_to_host,
      .copy = copy,
      .take_snapshot = take_snapshot,
      .read_snapshot = read_snapshot,
      .forget_snapshot = forget_snapshot,
      .wait = wait,
      .draw_counts = draw_counts,
      .draw_counts_in_logs = draw_counts_in_logs,
      .split_large_counts = split_large_counts,
      .allocate_at_random = allocate_at_random,
      .draw_gammas = draw_gammas,
      .sum_columns = sum_columns,
      .sum_groups = sum_groups,
      .sum_listed_groups = sum_listed_groups,
      .add_groups = add_groups,
      .draw_columns = draw_columns,
      .scale_columns = scale_columns,
      .mean_columns = mean_columns,
      .draw_in_logs = draw_in_logs,
      .log_gammas = log_gammas,
      .normalise = normalise,
      .write_column = write_column,
      .sum_counts = sum_counts,
      .block_sums = block_sums,
      .place = place,
      .impute_diagonal = impute_diagonal,
      .spread = spread,
      .shift = shift,
      .move = move,
      .widen = widen,
      .tally = tally,
      .score = score,
      .score_parts = score_parts,
      .score_listed = score_listed,
      .add_candidates = add_candidates,
      .end_chain = end_chain,
      .place_tests = place_tests,
  };
  return &api;
}
