#include "kernel/cpu/cpu_kernel.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/cpu/allocate.hpp"
#include "kernel/cpu/candidate_scores.hpp"
#include "kernel/cpu/columns.hpp"
#include "kernel/cpu/expect.hpp"
#include "kernel/cpu/gamma.hpp"
#include "kernel/cpu/instruction_set.hpp"
#include "kernel/cpu/place.hpp"
#include "kernel/cpu/score.hpp"
#include "kernel/gamma_draw.hpp"
#include "model/entity_model.hpp"

namespace ztp {
namespace {

class CpuKernel final : public PartKernel {
 public:
  explicit CpuKernel(Pool& pool) : pool_(pool), allocator_(pool) {}

  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    return arrays_.factors(rows, columns, place);
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place) override {
    return arrays_.counts(rows, columns, wide, place);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    return std::make_unique<HostOnes>(cells, layout);
  }
  void reserve(std::size_t ones) override { allocator_.reserve(ones); }
  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                    const CountSums& sums) override {
    const HostRates on_host(rates, settings.bounded);  // bounds are of neighbouring columns
    const HostOnes& cells = on_this_host(ones);
    if (settings.expected) return cpu::expect(pool_, {cells.cells, on_host, {key, settings.t}, settings}, sums);
    cpu::EntryGroup group{cells, on_host, sums, settings.parts};
    allocator_.allocate({&group, 1}, {key, settings.t}, settings);
    return group.log_likelihood;
  }
  void allocate_groups(std::span<CountGroup> groups, StreamKey key, const DrawSettings& settings) override {
    std::vector<HostRates> rates(groups.size());
    pool_.for_blocks(groups.size(), [&](std::size_t i) { rates[i] = HostRates(groups[i].rates, settings.bounded); });
    std::vector<cpu::EntryGroup> entries;
    for (std::size_t i = 0; i < groups.size(); ++i)
      entries.push_back({on_this_host(*groups[i].ones), rates[i], groups[i].sums, &groups[i].parts});
    allocator_.allocate(entries, {key, settings.t}, settings);
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].log_likelihood = entries[i].log_likelihood;
  }
  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    allocator_.allocate_at_random(on_this_host(ones), {key, 0}, sums);
  }
  double smallest_shape() const override { return cpu::smallest_float_shape; }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    cpu::draw_gammas(pool_, columns, {key, t}, on_this_host(u));
  }
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    return cpu::sum_columns(pool_, columns, on_this_host(u));
  }
  std::vector<double> sum_groups(const Columns& columns, const Factors& u) override {
    std::vector<double> packed;
    cpu::sum_row_groups(pool_, columns, on_this_host(u), [&](const RowGroupSums& groups) {
      for (std::size_t g = 0; g < groups.group.size(); ++g)
        packed.insert(packed.end(), groups.sums.row(g), groups.sums.row(g) + u.columns());
    });
    return packed;
  }
  std::vector<double> add_groups(const std::vector<double>& groups, const Columns& of) override {
    std::vector<double> sums(of.S.columns(), 0.0);
    for (std::size_t i = 0; i < groups.size(); ++i) sums[i % sums.size()] += groups[i];
    return sums;
  }
  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    cpu::scale_columns(pool_, columns, factor, on_this_host(u));
  }
  bool begin_columns(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    drawn_.clear();
    const auto is_u = [&](const cpu::ColumnTask& task) { return &task.u == &u; };
    if (std::any_of(waiting_.begin(), waiting_.end(), is_u)) waiting_.clear();  // left over by a sweep that failed
    waiting_.push_back({columns, {key, t}, on_this_host(u)});
    return true;
  }
  void start_columns() override {
    std::vector<cpu::ColumnTask> tasks = std::move(waiting_);
    waiting_.clear();
    cpu::draw_together(pool_, tasks);
    for (cpu::ColumnTask& task : tasks) drawn_.emplace_back(&task.u, std::move(task.sums));
  }
  std::vector<double> end_columns(const Factors& u) override {
    if (!waiting_.empty()) start_columns();
    const auto of_u = std::find_if(drawn_.begin(), drawn_.end(), [&](const auto& drawn) { return drawn.first == &u; });
    return std::move(of_u->second);
  }
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    return cpu::draw_in_logs(pool_, columns, which, log_rest, {key, t}, on_this_host(u));
  }
  std::vector<double> log_gammas(const Columns& columns, std::size_t q, StreamKey key, std::uint32_t t,
                                 const Factors& u) override {
    return cpu::log_gammas(columns, q, {key, t}, u);
  }
  double normalise(std::vector<double>& logs, double n) override { return normalise_logs(logs, n); }
  void write_column(const Columns& columns, std::size_t q, const double* values, Factors& u) override {
    on_this_host(u).sums_of_groups = {};
    cpu::write_column(columns, q, values, on_this_host(u));
  }
  std::vector<std::int64_t> sum_counts(const Columns& columns) override { return cpu::sum_counts(columns); }
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    cpu::mean_columns(pool_, columns, factor, on_this_host(u));
  }
  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    return cpu::impute_diagonal(pool_, on_this_host(u), log_beta, {key, settings.t}, settings, on_this_host(S), totals);
  }
  std::vector<double> sums_of_squares(const Factors& u) override {
    return cpu::sums_of_squares(pool_, on_this_host(u));
  }
  std::vector<double> sums_of_places(const Factors& u, RowMask rows) override {
    return cpu::sums_of_places(pool_, values_of(u), rows);
  }
  std::vector<double> column_mass(const Factors& u, RowMask rows) override {
    return cpu::column_mass(pool_, values_of(u), rows);
  }
  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    if (std::all_of(totals.begin(), totals.end(), [](std::int64_t total) { return total == 0; })) return;
    const std::vector<double> sums = cpu::sums_of_places(pool_, values_of(u), rows);
    cpu::place(pool_, values_of(u), rows, totals, streams, unit, {sums.data(), sums.size() / u.columns(), 0},
               on_this_host(S));
  }
  void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) override {
    cpu::spread(pool_, values_of(u), rows, power, factor, on_this_host(S));
  }
  void shift(int bits, Counts& S) override { cpu::shift(pool_, bits, on_this_host(S)); }
  void move(const Counts& towards, double part, Counts& S) override {
    cpu::move(pool_, on_this_host(towards), part, on_this_host(S));
  }
  Tally tally(const Counts& S) override { return cpu::tally(pool_, on_this_host(S)); }
  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    score_by_entity(coords, count, rates, z,
                    [&](const std::uint32_t* of, std::size_t cells, const Rates& with, double* result) {
                      cpu::score(pool_, of, cells, HostRates(with), result);
                    });
  }
  void score_parts(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* parts) override {
    const HostRates on_host(rates);
    const Blocks blocks{count, 256};
    pool_.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e)
        rate_parts(on_host, coords + e * rates.modes(), parts + e * rates.R());
    });
  }
  void score(const Ones& cells, const Rates& rates, double* z) override {
    score(on_this_host(cells).cells.coords, cells.count(), rates, z);
  }
  std::unique_ptr<CandidateRanking> candidates(const FactorLayout& layout, const CandidateSettings& settings) override {
    return std::make_unique<cpu::CandidateScores>(layout, settings, pool_);
  }

 private:
  Pool& pool_;
  HostArrays arrays_;
  cpu::Allocator allocator_;
  std::vector<cpu::ColumnTask> waiting_;                               // columns that were begun
  std::vector<std::pair<const Factors*, std::vector<double>>> drawn_;  // and those that were drawn: their sums
};

}  // namespace

std::unique_ptr<PartKernel> make_cpu_kernel(Pool& pool) {
  cpu::check_instruction_set();
  return std::make_unique<CpuKernel>(pool);
}

}  // namespace ztp
