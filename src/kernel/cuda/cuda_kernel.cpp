#include "kernel/cuda/cuda_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/errors.hpp"
#include "kernel/cuda/column_batch.hpp"
#include "kernel/cuda/cuda_candidates.hpp"
#include "kernel/cuda/draw_counts.hpp"

namespace ztp {
namespace cuda {
namespace {

// Chains side by side share one GPU: an operation at a time.
std::mutex one_at_a_time;
using Lock = std::lock_guard<std::mutex>;

constexpr double part_for_scores = 0.4;  // of the memory: what draws that are kept leave to everything else

const Api& api() {
  return *library().api;
}

class CudaKernel final : public Kernel {
 public:
  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    return std::make_unique<CudaFactors>(rows, columns, place);
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place) override {
    return std::make_unique<CudaCounts>(rows, columns, wide, place);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    return std::make_unique<CudaOnes>(cells, layout.modes(), spare_);
  }
  std::shared_ptr<void> pin(void* memory, std::size_t bytes) override {
    if (bytes == 0 || api().pin(memory, bytes) != 0) return nullptr;
    return {memory, [](void* pinned) { api().unpin(pinned); }};
  }
  bool computes_elsewhere() const override { return true; }
  void reserve(std::size_t ones) override { drawer_.reserve(ones); }

  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                    const CountSums& sums) override {
    const Lock lock(one_at_a_time);
    CountGroup group{&ones, rates, sums};
    drawer_.draw({&group, 1}, {key, settings.t}, settings, settings.parts != nullptr);
    if (settings.parts != nullptr) *settings.parts = std::move(group.parts);
    return group.log_likelihood;
  }
  void allocate_groups(std::span<CountGroup> groups, StreamKey key, const DrawSettings& settings) override {
    const Lock lock(one_at_a_time);
    drawer_.draw(groups, {key, settings.t}, settings, true);
  }
  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    const Lock lock(one_at_a_time);
    drawer_.draw_at_random(on_device(ones), {key, 0}, sums);
  }

  double smallest_shape() const override { return 0.01; }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    const Lock lock(one_at_a_time);
    check(api().draw_gammas(task_of(columns), key, t, on_device(u).array()), "gamma draws");
  }
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    const Lock lock(one_at_a_time);
    const ColumnTask task = task_of(columns);
    doubles_.reserve((column_sums_room(task.count) + 1) * u.columns());
    double* const sums = doubles_.data();
    check(api().sum_columns(task, on_device(u).array(), sums + u.columns(), sums), "sums of columns");
    return to_host(doubles_, u.columns());
  }
  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    const Lock lock(one_at_a_time);
    floats_.write(factor.data(), factor.size());
    check(api().scale_columns(task_of(columns), floats_.data(), on_device(u).array()), "columns scaled");
  }
  bool begin_columns(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    const Lock lock(one_at_a_time);
    batch_.add(task_of(columns), {key, t}, on_device(u));
    return true;
  }
  void start_columns() override {
    const Lock lock(one_at_a_time);
    batch_.start();
  }
  std::vector<double> end_columns(const Factors& u) override {
    const Lock lock(one_at_a_time);
    std::vector<double> sums = batch_.take(on_device(u));
    // Where a column's factor is far from one, products of several might not be floats.
    const auto is_far = [n = static_cast<double>(u.rows())](double sum) { return !(sum < 1e6 * n && sum > 1e-6 * n); };
    if (std::any_of(sums.begin(), sums.end(), is_far)) on_device(u).settle();
    return sums;
  }
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    const Lock lock(one_at_a_time);
    const ColumnTask task = task_of(columns);
    DeviceBuffer<std::uint32_t> columns_drawn;
    DeviceBuffer<double> rest;
    const std::vector<std::uint32_t> numbers(which.begin(), which.end());
    columns_drawn.write(numbers.data(), numbers.size());
    rest.write(log_rest.data(), log_rest.size());
    doubles_.reserve(which.size() * (task.count + 2));
    check(api().draw_in_logs(task, columns_drawn.data(), static_cast<std::uint32_t>(which.size()),
                             log_rest.empty() ? nullptr : rest.data(), key, t, on_device(u).array(),
                             doubles_.data() + which.size(), doubles_.data()),
          "columns drawn in logs");
    return to_host(doubles_, which.size());
  }
  std::vector<std::int64_t> sum_counts(const Columns& columns) override {
    const Lock lock(one_at_a_time);
    integers_.reserve(columns.S.columns());
    check(api().sum_counts(task_of(columns), integers_.data()), "sums of counts");
    return to_host(integers_, columns.S.columns());
  }
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    const Lock lock(one_at_a_time);
    floats_.write(factor.data(), factor.size());
    check(api().mean_columns(task_of(columns), floats_.data(), on_device(u).array()), "means of columns");
  }

  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    const Lock lock(one_at_a_time);
    std::vector<double> mean = sum_blocks(u, {}, 2);
    const double log_cells = 2 * std::log(static_cast<double>(u.rows())), unit = static_cast<double>(settings.unit);
    double rate = 0;
    for (std::size_t q = 0; q < mean.size(); ++q) rate += mean[q] *= std::exp(log_beta[q] - log_cells);
    if (settings.expected) {
      std::vector<double> factor(mean.size());
      for (std::size_t q = 0; q < mean.size(); ++q) {
        factor[q] = 2 * unit * std::exp(log_beta[q] - log_cells);
        totals[q] += std::llround(unit * mean[q]);
      }
      spread_over(u, {}, 2, factor, S);
      return rate;
    }
    for (const double value : mean)
      if (!(value <= 0x1p62)) throw numeric_error("the diagonal of a network has the rate {}", value);
    doubles_.write(mean.data(), mean.size());
    integers_.reserve(mean.size());
    const auto add = [&](std::int64_t of_unit) {
      check(api().impute_diagonal(on_device(u).array(), doubles_.data(), key, settings.t, of_unit, on_device(S).array(),
                                  integers_.data()),
            "the diagonal of a network");
    };
    add(settings.unit);
    const std::vector<std::int64_t> drawn = to_host(integers_, mean.size());
    if (!on_device(S).fit_after(2 * settings.unit * *std::max_element(drawn.begin(), drawn.end()))) {
      add(-settings.unit);
      on_device(S).widen();
      add(settings.unit);
    }
    for (std::size_t q = 0; q < drawn.size(); ++q) totals[q] += drawn[q] * settings.unit;
    return rate;
  }

  std::vector<double> column_mass(const Factors& u, RowMask rows) override {
    const Lock lock(one_at_a_time);
    std::vector<double> mass = sum_blocks(u, rows, 1);
    for (double& value : mass) value /= static_cast<double>(u.rows());
    return mass;
  }

  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    const std::int64_t largest = *std::max_element(totals.begin(), totals.end());
    if (largest == 0) return;
    const Lock lock(one_at_a_time);
    sum_blocks(u, rows, 1);  // leaves the sums of blocks behind the sums of columns
    if (!on_device(S).fit_after(unit * largest)) on_device(S).widen();
    const std::size_t P = u.columns(), blocks = (u.rows() + rows_per_place - 1) / rows_per_place;
    integers_.reserve((blocks + 1) * P);
    check(api().to_device(integers_.data(), totals.data(), P * sizeof(std::int64_t)), "totals");
    check(api().place(on_device(u).array(), mask_of(rows, u.rows()), integers_.data(), doubles_.data() + P, streams.key,
                      streams.t, unit, integers_.data() + P, on_device(S).array()),
          "counts placed");
  }

  void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) override {
    const Lock lock(one_at_a_time);
    spread_over(u, rows, power, factor, S);
  }
  void shift(int bits, Counts& S) override {
    const Lock lock(one_at_a_time);
    on_device(S).widen();
    check(api().shift(bits, on_device(S).array()), "counts shifted");
  }
  void move(const Counts& towards, double part, Counts& S) override {
    const Lock lock(one_at_a_time);
    on_device(S).widen();
    check(api().move(on_device(towards).array(), part, on_device(S).array()), "counts moved");
  }

  Tally tally(const Counts& S) override {
    const Lock lock(one_at_a_time);
    constexpr std::uint64_t small = 256;
    std::vector<std::int64_t> count(small), large(4096);
    unsigned long long found = 0;
    for (;;) {
      const std::size_t most = large.size();
      integers_.reserve(small + 1 + most);
      check(api().clear(integers_.data(), (small + 1) * sizeof(std::int64_t)), "a tally");
      auto* const counters = reinterpret_cast<unsigned long long*>(integers_.data());
      check(api().tally(on_device(S).array(), small, counters, integers_.data() + small + 1, most, counters + small),
            "a tally");
      check(api().to_host(count.data(), integers_.data(), small * sizeof(std::int64_t)), "a tally");
      check(api().to_host(&found, integers_.data() + small, sizeof found), "a tally");
      if (found <= most) break;
      large.resize(found);
    }
    large.resize(found);
    if (found > 0)
      check(api().to_host(large.data(), integers_.data() + small + 1, found * sizeof(std::int64_t)), "a tally");
    std::map<std::int64_t, std::int64_t> of_large;
    for (const std::int64_t value : large) ++of_large[value];
    Tally result;
    for (std::size_t value = 1; value < small; ++value)
      if (count[value] > 0) result.emplace_back(value, count[value]);
    result.insert(result.end(), of_large.begin(), of_large.end());
    return result;
  }

  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    const Lock lock(one_at_a_time);
    cells_.write(coords, count * rates.modes());
    score_cells(cells_.data(), count, rates, z);
  }
  void score(const Ones& cells, const Rates& rates, double* z) override {
    const Lock lock(one_at_a_time);
    score_cells(on_device(cells).array().coords, cells.count(), rates, z);
  }
  std::unique_ptr<CandidateRanking> candidates(const FactorLayout& layout, const CandidateSettings& settings) override {
    const Lock lock(one_at_a_time);
    return std::make_unique<CudaCandidates>(layout, settings, one_at_a_time);
  }
  std::size_t room_for_draws() const override {
    std::size_t free = 0, total = 0;
    check(api().memory(&free, &total), "free memory");
    const auto reserved = static_cast<std::size_t>(part_for_scores * static_cast<double>(total));
    return free > reserved ? free - reserved : 0;
  }
  void score_parts(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* parts) override {
    const Lock lock(one_at_a_time);
    const StagedRates staged(rates, drawer_.staging());
    cells_.write(coords, count * rates.modes());
    doubles_.reserve(count * rates.R());
    check(api().score_parts(staged.arrays(drawer_.staging().send(), {}), cells_.data(), count, doubles_.data()),
          "parts of rates");
    doubles_.read(parts, count * rates.R());
  }

 private:
  ColumnTask task_of(const Columns& columns) {
    if (columns.rows != nullptr) rows_.write(columns.rows->data(), columns.rows->size());
    return {on_device(columns.S).array(), columns.a, columns.scale, columns.rows == nullptr ? nullptr : rows_.data(),
            columns.rows == nullptr ? columns.S.rows() : columns.rows->size()};
  }
  RowsMask mask_of(RowMask rows, std::size_t count) {
    if (rows.mask != nullptr) mask_.write(rows.mask, count);
    return {rows.mask == nullptr ? nullptr : mask_.data(), rows.wanted};
  }
  // Sums over blocks of rows, behind those of whole columns, which are returned.
  std::vector<double> sum_blocks(const Factors& u, RowMask rows, int power) {
    const std::size_t blocks = (u.rows() + rows_per_place - 1) / rows_per_place;
    doubles_.reserve((blocks + 1) * u.columns());
    check(api().block_sums(on_device(u).array(), mask_of(rows, u.rows()), power, doubles_.data() + u.columns(),
                           doubles_.data()),
          "sums of rows");
    return to_host(doubles_, u.columns());
  }
  void spread_over(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) {
    on_device(S).widen();
    doubles_.write(factor.data(), factor.size());
    check(api().spread(on_device(u).array(), mask_of(rows, u.rows()), power, doubles_.data(), on_device(S).array()),
          "counts spread");
  }
  // coords: of the device. With a one-hot mode, each cell gets its rate from the components of its entity alone.
  void score_cells(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) {
    Staging& staging = drawer_.staging();
    doubles_.reserve(count);
    if (rates.layout->one_hot_mode() == rates.modes()) {
      const StagedRates staged(rates, staging);
      check(api().score(staged.arrays(staging.send(), {}), coords, count, doubles_.data()), "rates");
    } else {
      const ListedComponents listed(*rates.layout, rates.modes(), rates.log_weight, rates.scale);
      const StagedComponents staged(listed, staging);
      check(api().score_listed(staged.rates(staging.send(), *rates.layout, rates.factors), coords, count,
                               doubles_.data()),
            "rates");
    }
    doubles_.read(z, count);
  }
  template <class T>
  static std::vector<T> to_host(const DeviceBuffer<T>& from, std::size_t count) {
    std::vector<T> result(count);
    from.read(result.data(), count);
    return result;
  }

  const std::shared_ptr<SpareMemory> spare_ = std::make_shared<SpareMemory>();
  CountDrawer drawer_;
  ColumnBatch batch_;
  DeviceBuffer<double> doubles_;
  DeviceBuffer<float> floats_;
  DeviceBuffer<std::int64_t> integers_;
  DeviceBuffer<std::uint32_t> rows_, cells_;
  DeviceBuffer<std::uint8_t> mask_;
};

}  // namespace
}  // namespace cuda

bool has_cuda() {
  return cuda::library().api != nullptr;
}

namespace {

// Of the arrays of a chain: ones and two lists of them, factors, counts, and sums of blocks of rows.
double gpu_bytes(const FactorLayout& layout, double columns_factor, std::uint64_t ones, bool counts, bool wide) {
  const double K = static_cast<double>(layout.modes());
  double bytes = static_cast<double>(ones) * (4 * K + (counts ? 8 : 0) + 8);
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    const double columns = static_cast<double>(cuda::stride_of(
        static_cast<std::size_t>(std::ceil(static_cast<double>(layout.size(f).columns) * columns_factor))));
    bytes += static_cast<double>(layout.size(f).rows) * columns * (4 + (wide ? 8 : 4) + 8.0 / cuda::rows_per_sum);
  }
  return bytes;
}

}  // namespace

void require_gpu_memory(const FactorLayout& layout, std::uint64_t ones, bool counts, bool wide) {
  std::size_t free = 0, total = 0;
  cuda::check(cuda::library().api->memory(&free, &total), "free memory");
  const double room = 0.97 * static_cast<double>(free), needed = gpu_bytes(layout, 1, ones, counts, wide);
  if (needed <= room) return;
  std::string remedy = "take fewer columns";
  if (layout.columns_are_components()) {
    std::size_t R = layout.components();
    while (R > 0 && gpu_bytes(layout, static_cast<double>(R) / static_cast<double>(layout.components()), ones, counts,
                              wide) > room)
      --R;
    remedy = R > 0 ? fmt::format("--rank {} would fit", R) : "no rank would fit: use --method online";
  }
  throw config_error("the GPU ({}) has {:.1f} GiB free, and this fit needs {:.1f} GiB there; {}, or use --kernel cpu",
                     cuda::library().device_name, static_cast<double>(free) * 0x1p-30, needed * 0x1p-30, remedy);
}

std::unique_ptr<Kernel> make_cuda_kernel() {
  if (!has_cuda()) throw config_error("--kernel cuda: {}; or use --kernel cpu", cuda::library().missing);
  return std::make_unique<cuda::CudaKernel>();
}

}  // namespace ztp
