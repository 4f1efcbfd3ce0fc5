#include "kernel/cuda/draw_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"

namespace ztp::cuda {
namespace {

constexpr std::uint64_t no_entry = ~std::uint64_t{0};
const Api& api() {
  return *library().api;
}

// Entries of one call that are split by binomials side by side. More wait for each other.
constexpr std::size_t most_large = std::size_t{1} << 20;

// The most that a row of matrix f may have grown by: no row gets more of a column than all rows together.
std::int64_t largest_growth(const FactorLayout& layout, std::size_t f, const std::int64_t* totals) {
  std::vector<std::int64_t> of_column(layout.size(f).columns, 0);
  for (std::size_t k = 0; k < layout.modes(); ++k)
    for (std::size_t r = 0; layout.matrix(k) == f && r < layout.components(); ++r)
      of_column[layout.column(k, r)] += totals[r];
  return of_column.empty() ? 0 : *std::max_element(of_column.begin(), of_column.end());
}

}  // namespace

StagedRates::StagedRates(const Rates& rates, Staging& staging) : rates_(&rates) {
  if (rates.modes() > static_cast<std::size_t>(most_modes))
    throw config_error("the GPU kernel supports at most {} modes; use --kernel cpu", most_modes);
  weight_ = staging.add(rates.weight.data(), rates.R());
  log_weight_ = staging.add(rates.log_weight.data(), rates.R());
  for (std::size_t k = 0; !rates.layout->columns_are_components() && k < rates.modes(); ++k)
    column_.push_back(staging.add(rates.layout->columns_of_mode(k).data(), rates.R()));
}

RateArrays StagedRates::arrays(const unsigned char* sent, const std::vector<Counts*>& counts) const {
  return make(sent, counts, true);
}

RateArrays StagedRates::unsettled(const unsigned char* sent, const std::vector<Counts*>& counts) const {
  return make(sent, counts, false);
}

RateArrays StagedRates::make(const unsigned char* sent, const std::vector<Counts*>& counts, bool settled) const {
  RateArrays result{};
  result.K = static_cast<std::uint32_t>(rates_->modes());
  result.R = static_cast<std::uint32_t>(rates_->R());
  result.weight = reinterpret_cast<const float*>(sent + weight_);
  result.log_weight = reinterpret_cast<const double*>(sent + log_weight_);
  result.scale = rates_->scale;
  result.log_volume = rates_->log_volume;
  for (std::uint32_t k = 0; k < result.K; ++k) {
    const std::size_t f = rates_->layout->matrix(k);
    const CudaFactors& factors = on_device(*rates_->factors[f]);
    const FactorArray u = settled ? factors.array() : factors.unsettled();
    ModeArrays& mode = result.mode[k];
    mode = {u.values,
            nullptr,
            column_.empty() ? nullptr : reinterpret_cast<const std::uint32_t*>(sent + column_[k]),
            settled ? nullptr : factors.to_scale(),
            u.stride,
            false};
    if (counts.empty()) continue;
    mode.counts = on_device(*counts[f]).array().values;
    mode.wide = on_device(*counts[f]).wide();
  }
  return result;
}

std::vector<DrawTask> CountDrawer::make_tasks(std::span<CountGroup> groups, const Streams& streams,
                                              const DrawSettings& settings, bool wants_parts,
                                              std::size_t parts_per_entry) {
  std::vector<StagedRates> rates;
  std::size_t entries = 0, most = 0, bytes = 0, weights = 0;
  result_at_.clear();
  for (const CountGroup& group : groups) {
    rates.emplace_back(group.rates, staging_);
    weights += padded_components(group.rates.R());
    result_at_.push_back(bytes);
    bytes += sizeof(DrawnHeader) + group.rates.R() * sizeof(std::int64_t);
    entries += group.ones->count();
    most = std::max(most, group.ones->count());
  }
  const unsigned char* const sent = staging_.send();
  results_.reserve(bytes);
  weights_.reserve(weights);
  log_weights_.reserve(weights);
  host_results_.resize(bytes);
  work_.reserve(2 * most);
  large_.reserve(std::min(most, most_large));
  if (wants_parts) components_.reserve(entries);
  if (wants_parts) parts_.reserve(parts_per_entry * entries + 64 * groups.size());
  std::vector<DrawTask> tasks;
  std::size_t first = 0, first_part = 0, first_weight = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t count = groups[g].ones->count(), room = parts_per_entry * count + 64;
    DrawTask task{};
    task.rates = rates[g].unsettled(sent, groups[g].sums.rows);
    task.weight = weights_.data() + first_weight;
    task.log_weight = log_weights_.data() + first_weight;
    first_weight += padded_components(groups[g].rates.R());
    task.cells = on_device(*groups[g].ones).array();
    task.key = streams.key;
    task.t = streams.t;
    task.unit = settings.unit;
    task.expected = settings.expected;
    task.anywhere = settings.anywhere;
    task.work = work_.data();
    task.large = large_.data();
    // Of a single group, where there were none the last time, the host looks first.
    task.splits_large = groups.size() > 1 || had_large_;
    task.most_large = task.rates.R <= most_components_listed ? std::min(count, most_large) : 0;
    task.component = wants_parts ? components_.data() + first : nullptr;
    task.parts = wants_parts ? parts_.data() + first_part : nullptr;
    task.most_parts = room;
    task.header = reinterpret_cast<DrawnHeader*>(results_.data() + result_at_[g]);
    task.totals = reinterpret_cast<std::int64_t*>(results_.data() + result_at_[g] + sizeof(DrawnHeader));
    tasks.push_back(task);
    first += count;
    first_part += room;
  }
  return tasks;
}

void CountDrawer::run(std::vector<DrawTask>& tasks, std::span<CountGroup> groups) {
  for (std::size_t g = 0; g < tasks.size(); ++g) {  // counts may have moved to wide ones
    const FactorLayout& layout = *groups[g].sums.layout;
    for (std::size_t k = 0; k < layout.modes(); ++k) {
      const CudaCounts& counts = on_device(*groups[g].sums.rows[layout.matrix(k)]);
      tasks[g].rates.mode[k].counts = counts.array().values;
      tasks[g].rates.mode[k].wide = counts.wide();
    }
    check(api().draw_counts(tasks[g]), "latent counts");
    // Groups share the lists of entries. Of a single one, the host looks first whether there is a list.
    if (tasks.size() > 1 && !tasks[g].expected) check(api().draw_counts_in_logs(tasks[g]), "counts in logs");
  }
  results_.read(host_results_.data(), host_results_.size());
  if (tasks.size() != 1 || tasks[0].expected) return;
  const DrawnHeader header = header_of(0);
  had_large_ = header.large > 0;
  const bool in_logs = header.in_logs > 0, large = had_large_ && !tasks[0].splits_large;
  if (in_logs) check(api().draw_counts_in_logs(tasks[0]), "counts in logs");
  if (large) check(api().split_large_counts(tasks[0]), "large counts");
  if (in_logs || large) results_.read(host_results_.data(), host_results_.size());
}

DrawnHeader CountDrawer::header_of(std::size_t g) const {
  DrawnHeader header;
  std::memcpy(&header, host_results_.data() + result_at_[g], sizeof header);
  return header;
}

// The same draws with the opposite sign: integers that have wrapped around come back, too.
void CountDrawer::take_back(std::vector<DrawTask> tasks) {
  for (DrawTask& task : tasks) {
    task.unit = -task.unit;
    task.splits_large = true;
    task.component = nullptr;
    task.parts = nullptr;
    check(api().draw_counts(task) || (!task.expected && api().draw_counts_in_logs(task)), "latent counts taken back");
  }
}

void CountDrawer::draw(std::span<CountGroup> groups, const Streams& streams, const DrawSettings& settings,
                       bool wants_parts) {
  for (const CountGroup& group : groups)
    for (Counts* rows : group.sums.rows)
      if (settings.fresh) rows->clear();
  std::size_t parts_per_entry = 1;
  std::vector<DrawTask> tasks = make_tasks(groups, streams, settings, wants_parts, parts_per_entry);
  for (;;) {
    run(tasks, groups);
    std::uint64_t most_parts = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const DrawnHeader header = header_of(g);
      if (header.bad_entry != no_entry) {
        const std::string name = fmt::format("{} number {}", groups[g].ones->missing() ? "missing cell" : "one",
                                             on_device(*groups[g].ones).number(header.bad_entry) + 1);
        if (settings.expected) throw numeric_error("{} has a rate that is not a number", name);
        throw numeric_error("sweep {}: {} has rate zero or infinity", streams.t, name);
      }
      if (wants_parts && header.parts > tasks[g].most_parts)
        most_parts = std::max(most_parts, header.parts / std::max<std::size_t>(groups[g].ones->count(), 1) + 1);
    }
    std::vector<CudaCounts*> too_narrow;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto* totals =
          reinterpret_cast<const std::int64_t*>(host_results_.data() + result_at_[g] + sizeof(DrawnHeader));
      const FactorLayout& layout = *groups[g].sums.layout;
      for (std::size_t f = 0; most_parts == 0 && f < layout.matrices(); ++f) {
        CudaCounts& counts = on_device(*groups[g].sums.rows[f]);
        if (!counts.fit_after(largest_growth(layout, f, totals))) too_narrow.push_back(&counts);
      }
    }
    if (too_narrow.empty() && most_parts == 0) break;
    take_back(tasks);
    for (CudaCounts* counts : too_narrow) counts->widen();
    if (most_parts > 0) {
      parts_per_entry = most_parts;
      tasks = make_tasks(groups, streams, settings, wants_parts, parts_per_entry);
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) collect(tasks[g], g, wants_parts, groups[g]);
}

void CountDrawer::collect(const DrawTask& task, std::size_t g, bool wants_parts, CountGroup& group) {
  const DrawnHeader header = header_of(g);
  const auto* totals =
      reinterpret_cast<const std::int64_t*>(host_results_.data() + result_at_[g] + sizeof(DrawnHeader));
  for (std::size_t r = 0; r < group.rates.R(); ++r) group.sums.totals[r] += totals[r];
  group.log_likelihood = ExactSum(header.high, header.low, header.rest);
  if (!wants_parts) return;
  std::vector<std::uint32_t> component(group.ones->count());
  std::vector<EntryPart> several(header.parts);
  check(component.empty() ? 0 : api().to_host(component.data(), task.component, component.size() * 4), "components");
  check(several.empty() ? 0 : api().to_host(several.data(), task.parts, several.size() * sizeof(EntryPart)), "parts");
  std::sort(several.begin(), several.end(), [](const EntryPart& a, const EntryPart& b) {
    return a.entry != b.entry ? a.entry < b.entry : a.order < b.order;
  });
  group.parts.assign(1, {});
  std::vector<Part>& all = group.parts.front();
  auto next = several.begin();
  for (std::uint32_t e = 0; e < component.size(); ++e) {
    if (component[e] != none) all.push_back({e, component[e], 1});
    // Units of an observed count that have the same component are one part.
    const bool merges = on_device(*group.ones).has_counts();
    for (; next != several.end() && next->entry == e; ++next) {
      if (merges && !all.empty() && all.back().entry == e && all.back().component == next->component)
        all.back().count += next->count;
      else
        all.push_back({e, next->component, next->count});
    }
  }
}

void CountDrawer::draw_at_random(const CudaOnes& ones, const Streams& streams, const CountSums& sums) {
  DrawTask task{};
  const FactorLayout& layout = *sums.layout;
  const std::size_t R = layout.components();
  std::vector<std::size_t> columns;
  for (std::size_t k = 0; !layout.columns_are_components() && k < layout.modes(); ++k)
    columns.push_back(staging_.add(layout.columns_of_mode(k).data(), R));
  const unsigned char* const sent = staging_.send();
  results_.reserve(sizeof(DrawnHeader) + R * sizeof(std::int64_t));
  task.rates.K = static_cast<std::uint32_t>(layout.modes());
  task.rates.R = static_cast<std::uint32_t>(R);
  task.cells = ones.array();
  task.key = streams.key;
  task.t = streams.t;
  task.header = reinterpret_cast<DrawnHeader*>(results_.data());
  task.totals = reinterpret_cast<std::int64_t*>(results_.data() + sizeof(DrawnHeader));
  std::vector<std::int64_t> totals(R);
  const auto add = [&](std::int64_t unit) {
    for (std::size_t k = 0; k < layout.modes(); ++k) {
      const CountArray S = on_device(*sums.rows[layout.matrix(k)]).array();
      task.rates.mode[k] = {
          nullptr, S.values, columns.empty() ? nullptr : reinterpret_cast<const std::uint32_t*>(sent + columns[k]),
          nullptr, S.stride, S.wide};
    }
    task.unit = unit;
    check(api().allocate_at_random(task), "a random start");
    check(api().to_host(totals.data(), task.totals, R * sizeof(std::int64_t)), "totals");
  };
  add(1);
  std::vector<CudaCounts*> too_narrow;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    CudaCounts& counts = on_device(*sums.rows[f]);
    if (!counts.fit_after(largest_growth(layout, f, totals.data()))) too_narrow.push_back(&counts);
  }
  if (!too_narrow.empty()) {
    add(-1);
    for (CudaCounts* counts : too_narrow) counts->widen();
    add(1);
  }
  for (std::size_t r = 0; r < R; ++r) sums.totals[r] += totals[r];
}

}  // namespace ztp::cuda
