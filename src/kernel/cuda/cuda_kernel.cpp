#include "kernel/cuda/cuda_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "kernel/cuda/column_batch.hpp"
#include "kernel/cuda/cuda_candidates.hpp"
#include "kernel/cuda/draw_counts.hpp"
#include "kernel/cuda/sum_order.hpp"
#include "kernel/ranks/rank_ones.hpp"

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

class CudaKernel final : public PartKernel {
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
    const ColumnTask task = task_of(columns);
    if (columns.rows != nullptr) {
      check(api().draw_gammas(task, key, t, on_device(u).array()), "gamma draws");
      return;
    }
    // As begin_columns has them drawn; sums and factors are of no use.
    on_device(u).settle();
    doubles_.reserve((column_sums_room(task.count) + 1) * u.columns());
    floats_.reserve(u.columns());
    const ColumnJob job{task,
                        key,
                        t,
                        on_device(u).unsettled(),
                        doubles_.data() + u.columns(),
                        doubles_.data(),
                        floats_.data(),
                        Kernel::smallest_sum};
    check(api().draw_columns(&job, 1), "gamma draws");
  }
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    const Lock lock(one_at_a_time);
    const ColumnTask task = task_of(columns);
    if (columns.rows != nullptr) {
      const std::size_t groups = sum_listed(columns, task, u, 1);
      double* const sums = doubles_.data();
      check(api().add_groups(sums + u.columns(), groups, static_cast<std::uint32_t>(u.columns()), sums), "sums");
    } else {
      doubles_.reserve((column_sums_room(task.count) + 1) * u.columns());
      double* const sums = doubles_.data();
      check(api().sum_columns(task, on_device(u).array(), sums + u.columns(), sums), "sums of columns");
    }
    return to_host(doubles_, u.columns());
  }
  std::vector<double> sum_groups(const Columns& columns, const Factors& u) override {
    const Lock lock(one_at_a_time);
    const ColumnTask task = task_of(columns);
    if (columns.rows != nullptr) {
      const std::size_t groups = sum_listed(columns, task, u, 0);
      return to_host(doubles_, groups * u.columns());
    }
    const std::size_t rows = rows_of_share(u.all_rows()), groups = (task.count + rows - 1) / rows;
    doubles_.reserve((groups + column_blocks(task.count)) * u.columns());
    double* const sums = doubles_.data();
    check(api().sum_groups(task, on_device(u).array(), rows, sums + groups * u.columns(), sums), "sums of columns");
    return to_host(doubles_, groups * u.columns());
  }
  std::vector<double> add_groups(const std::vector<double>& groups, const Columns& of) override {
    const std::size_t blocks = of.rows != nullptr ? 1 : rows_of_share(of.S.all_rows()) / rows_per_sum;
    return add_in_order(groups, of.S.columns(), blocks);
  }
  // By way of memory that stays in place, where there is much of it.
  void send_factors(Pool&, const HostFactors& from, Factors& to) override {
    pin(from.values, from.pinned);
    on_device(to).write_all(from.values);
  }
  void bring_factors(Pool&, const Factors& from, HostFactors& to) override {
    pin(to.values, to.pinned);
    on_device(from).read_all(to.values, to.pinned != nullptr);
  }
  void send_counts(Pool& pool, const HostCounts& from, Counts& to) override {
    if (from.wide()) on_device(to).widen();
    if (from.wide() != on_device(to).wide()) return PartKernel::send_counts(pool, from, to);
    from.visit([&](const auto& values) {
      pin(values, from.pinned);
      on_device(to).write_all(values);
    });
  }
  void bring_counts(Pool& pool, const Counts& from, HostCounts& to) override {
    if (to.wide() != on_device(from).wide()) return PartKernel::bring_counts(pool, from, to);
    to.visit([&](auto& values) {
      pin(values, to.pinned);
      on_device(from).read_all(values, to.pinned != nullptr);
    });
  }
  bool scales_later() const override { return true; }
  void scale_later(const std::vector<float>& factor, Factors& u) override {
    const Lock lock(one_at_a_time);
    on_device(u).settle();
    on_device(u).factor.write(factor.data(), factor.size());
    on_device(u).unsettle();
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
    if (far_from_one(sums, u.rows())) on_device(u).settle();
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
  std::vector<double> log_gammas(const Columns& columns, std::size_t q, StreamKey key, std::uint32_t t,
                                 const Factors& u) override {
    const Lock lock(one_at_a_time);
    const ColumnTask task = task_of(columns);
    doubles_.reserve(task.count);
    check(api().log_gammas(task, static_cast<std::uint32_t>(q), key, t, on_device(u).array(), doubles_.data()),
          "columns drawn in logs");
    return to_host(doubles_, task.count);
  }
  double normalise(std::vector<double>& logs, double n) override {
    const Lock lock(one_at_a_time);
    double sum = 0;
    doubles_.reserve(logs.size() + 1);
    check(api().to_device(doubles_.data() + 1, logs.data(), logs.size() * sizeof(double)), "logarithms of draws");
    check(api().normalise(doubles_.data() + 1, logs.size(), n, doubles_.data()), "columns drawn in logs");
    check(api().to_host(&sum, doubles_.data(), sizeof sum), "columns drawn in logs");
    check(api().to_host(logs.data(), doubles_.data() + 1, logs.size() * sizeof(double)), "columns drawn in logs");
    return sum;
  }
  void write_column(const Columns& columns, std::size_t q, const double* values, Factors& u) override {
    const Lock lock(one_at_a_time);
    const ColumnTask task = task_of(columns);
    doubles_.write(values, task.count);
    check(api().write_column(task, static_cast<std::uint32_t>(q), doubles_.data(), on_device(u).array()),
          "columns drawn in logs");
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
    const std::size_t P = u.columns(), blocks = place_blocks(u);
    integers_.reserve((blocks + 1) * P);
    check(api().to_device(integers_.data(), totals.data(), P * sizeof(std::int64_t)), "totals");
    check(api().place(on_device(u).array(), mask_of(rows, u.rows()), integers_.data(), doubles_.data() + P, streams.key,
                      streams.t, unit, integers_.data() + P, on_device(S).array()),
          "counts placed");
  }
  std::vector<double> sums_of_squares(const Factors& u) override { return sums_of_blocks(u, {}, 2); }
  std::vector<double> sums_of_places(const Factors& u, RowMask rows) override { return sums_of_blocks(u, rows, 1); }

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
  // Of a matrix with pages of its own.
  template <class T>
  void pin(const Matrix<T>& values, std::shared_ptr<void>& pinned) {
    constexpr std::size_t much = std::size_t{8} << 20;
    if (pinned == nullptr && values.bytes() >= much) pinned = pin(const_cast<T*>(values.row(0)), values.bytes());
  }
  ColumnTask task_of(const Columns& columns) {
    if (columns.rows != nullptr) rows_.write(columns.rows->data(), columns.rows->size());
    return {on_device(columns.S).array(), columns.a, columns.scale, columns.rows == nullptr ? nullptr : rows_.data(),
            columns.rows == nullptr ? columns.S.rows() : columns.rows->size()};
  }
  RowsMask mask_of(RowMask rows, std::size_t count) {
    if (rows.mask != nullptr) mask_.write(rows.mask, count);
    return {rows.mask == nullptr ? nullptr : mask_.data(), rows.wanted};
  }
  // Sums of groups of listed rows, as many as have any: how many these are. They are in doubles_ behind this many rows,
  // with room to add them up.
  std::size_t sum_listed(const Columns& columns, const ColumnTask& task, const Factors& u, std::size_t behind) {
    const std::vector<std::uint32_t>& rows = *columns.rows;
    const std::size_t of_group = rows_of_share(u.all_rows());
    std::vector<std::uint32_t> begin;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i == 0 || rows[i] / of_group != rows[i - 1] / of_group) begin.push_back(static_cast<std::uint32_t>(i));
    const std::size_t groups = begin.size();
    begin.push_back(static_cast<std::uint32_t>(rows.size()));
    groups_.write(begin.data(), begin.size());
    doubles_.reserve((behind + room_to_add(groups)) * u.columns());
    check(api().sum_listed_groups(task, on_device(u).array(), groups_.data(), groups,
                                  doubles_.data() + behind * u.columns()),
          "sums of columns");
    return groups;
  }
  static std::size_t place_blocks(const Factors& u) { return (u.rows() + rows_per_place - 1) / rows_per_place; }
  std::vector<double> sums_of_blocks(const Factors& u, RowMask rows, int power) {
    const Lock lock(one_at_a_time);
    sum_blocks(u, rows, power);
    std::vector<double> sums(place_blocks(u) * u.columns());
    check(api().to_host(sums.data(), doubles_.data() + u.columns(), sums.size() * sizeof(double)), "sums of rows");
    return sums;
  }
  // Sums over blocks of rows, behind those of whole columns, which are returned.
  std::vector<double> sum_blocks(const Factors& u, RowMask rows, int power) {
    const std::size_t blocks = place_blocks(u);
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
  DeviceBuffer<std::uint32_t> rows_, groups_, cells_;
  DeviceBuffer<std::uint8_t> mask_;
};

}  // namespace
}  // namespace cuda

bool has_cuda() {
  return cuda::library().api != nullptr;
}

namespace {

// Columns that take this part of what those of a matrix take.
double part_of_columns(std::size_t columns, double part) {
  return static_cast<double>(cuda::stride_of(static_cast<std::size_t>(std::ceil(static_cast<double>(columns) * part))));
}

}  // namespace

double gpu_bytes(const FactorLayout& layout, std::uint64_t ones, const GpuUse& use) {
  const double K = static_cast<double>(layout.modes()), N = static_cast<double>(use.ranks);
  const std::size_t counts = use.wide ? 8 : 4;
  const auto columns = [&](std::size_t f) { return part_of_columns(layout.size(f).columns, use.part_of_columns); };
  // Ones, with numbers where they do not follow each other, and two lists of them.
  double bytes = static_cast<double>(ones) / N * (4 * K + (use.counts ? 8 : 0) + (use.ranks > 1 ? 8 : 0) + 8);
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    bytes += static_cast<double>(layout.size(f).rows) / N * columns(f) *
             (4 + static_cast<double>(counts) + 8.0 / cuda::rows_per_sum);
  if (use.ranks == 1) return bytes;
  // Copies of the rows that a chunk touches: at most one for each of its ones and modes.
  const std::vector<std::size_t> slabs = slabs_of_modes(layout, use.ranks),
                                 parts = parts_of_modes(ones, layout, use.ranks, use.room);
  double chunks = 1;
  for (const std::size_t of_mode : parts) chunks *= static_cast<double>(of_mode);
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const double rows = static_cast<double>(layout.size_of_mode(k).rows) / static_cast<double>(slabs[k] * parts[k]);
    bytes += std::min(rows, static_cast<double>(ones) / N / chunks) * columns(layout.matrix(k)) *
             (4 + static_cast<double>(counts));
  }
  return bytes;
}

void require_gpu_memory(const FactorLayout& layout, std::uint64_t ones, GpuUse use) {
  std::size_t free = 0, total = 0;
  cuda::check(cuda::library().api->memory(&free, &total), "free memory");
  const std::size_t devices = std::max<std::size_t>(cuda::library().devices, 1);
  const std::size_t sharing = (processes_on_machine() + devices - 1) / devices;
  const double room =
      0.97 * std::min(static_cast<double>(free), static_cast<double>(total) / static_cast<double>(sharing));
  const double needed = gpu_bytes(layout, ones, use);
  if (needed <= room) return;
  std::string remedy = "use fewer columns";
  if (layout.columns_are_components()) {
    std::size_t R = layout.components();
    const auto fits = [&] {
      use.part_of_columns = static_cast<double>(R) / static_cast<double>(layout.components());
      return gpu_bytes(layout, ones, use) <= room;
    };
    while (R > 0 && !fits()) --R;
    remedy = R > 0 ? fmt::format("--rank {} would fit", R) : "no rank would fit: use --method online";
  }
  const std::string whose =
      sharing == 1 ? "this fit" : fmt::format("each of the {} processes that have it together", sharing);
  throw config_error("the GPU ({}) has {:.1f} GiB free{}, and {} needs {:.1f} GiB there; {}{}, or use --kernel cpu",
                     cuda::library().device_name, room / 0.97 * 0x1p-30, sharing == 1 ? "" : " for each process", whose,
                     needed * 0x1p-30, remedy, use.ranks > 1 ? ", or more GPUs" : "");
}

std::unique_ptr<PartKernel> make_cuda_kernel() {
  if (!has_cuda()) throw config_error("--kernel cuda: {}; or use --kernel cpu", cuda::library().missing);
  return std::make_unique<cuda::CudaKernel>();
}

}  // namespace ztp
