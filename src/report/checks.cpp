#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernel/host_arrays.hpp"
#include "posterior/quantile.hpp"
#include "report/data_statistics.hpp"
#include "report/entity_order.hpp"
#include "report/mean_factor.hpp"
#include "report/numbers.hpp"
#include "report/replicate.hpp"
#include "report/sections.hpp"
#include "store/draws_file.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_replicates = 20, fewest_replicates = 4;
// The cost of replicates in points, each about 120 ns on one thread, half of it for what is counted. Reading a draw and
// making its tables costs 20 ns per number.
constexpr double cost_of_all = 16e6;  // unless that makes too few of them
constexpr double cost_of_one = 40e6;  // beyond, few of them might take more than half a minute, and a GB of memory
constexpr double numbers_of_a_point = 3;
constexpr std::size_t most_curve_points = 40;

// Of the most expensive of these draws. Each column of each mode has a table.
double cost_of(const DrawsFile& draws, const std::vector<std::size_t>& chosen, const FactorLayout& layout) {
  double points = 0, in_tables = 0;
  for (const std::size_t i : chosen) points = std::max(points, points_expected(draws.log_weights(i)));
  for (std::size_t k = 0; k < layout.modes(); ++k)
    in_tables += static_cast<double>(layout.size_of_mode(k).rows) * static_cast<double>(layout.size_of_mode(k).columns);
  return points + in_tables / numbers_of_a_point;
}

// The draws that are replicated: fewer, if they are expensive.
std::vector<std::size_t> choose_draws(const DrawsFile& draws, const FactorLayout& layout) {
  const std::size_t total = draws.draws().size();
  const double affordable = cost_of_all / cost_of(draws, evenly_spaced(total, most_replicates), layout);
  return evenly_spaced(total, static_cast<std::size_t>(std::clamp(affordable, static_cast<double>(fewest_replicates),
                                                                  static_cast<double>(most_replicates))));
}

StatisticsPlan plan_statistics(const Dataset& data, const ShownEntities& shown) {
  StatisticsPlan plan{data.tensor.sizes(), {}, {}};
  for (std::size_t k = 0; k < plan.sizes.size(); ++k) {
    std::vector<std::uint64_t> ones = shown.modes[k].ones;
    const std::uint64_t all = std::accumulate(ones.begin(), ones.end(), std::uint64_t{0});
    const auto paired = ones.begin() + static_cast<std::ptrdiff_t>(std::min(ones.size(), most_paired));
    std::partial_sort(ones.begin(), paired, ones.end(), std::greater<>());
    plan.pair_share.push_back(share_of_contexts(std::accumulate(ones.begin(), paired, std::uint64_t{0})));
    const std::vector<std::uint32_t>& order = shown.modes[k].ids;
    if (!shown.modes[k].ordered || order.size() != ones.size() || order.size() < 2 || order.size() > most_in_a_line)
      continue;
    std::vector<std::uint32_t> place(order.size());
    for (std::size_t t = 0; t < order.size(); ++t) place[order[t]] = static_cast<std::uint32_t>(t);
    plan.ordered.push_back({k, std::move(place), share_of_contexts(all)});
  }
  return plan;
}

struct Range {
  double low, middle, high;
};

Range range_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  return {values.front(), (values[(count - 1) / 2] + values[count / 2]) / 2, values.back()};
}

// A number of the data beside those of the replicates. Of a right model, a number is outside with probability
// 2 / (n + 1). It is far outside, further than the range is wide, with probability 6e-5 if 20 numbers are normally
// distributed, 0.002 of 10 and 0.06 of 4.
Json compared(double observed, const std::vector<double>& replicates) {
  const Range range = range_of(replicates);
  const double beyond = std::max(observed - range.high, range.low - observed);
  const bool far = replicates.size() >= fewest_replicates && beyond > std::max(1.0, range.high - range.low);
  return {{"observed", number(observed, precise)},
          {"low", number(range.low, precise)},
          {"middle", number(range.middle, precise)},
          {"high", number(range.high, precise)},
          {"place", beyond <= 0 ? "within"
                    : far       ? "far"
                                : "outside"}};
}

template <class Statistic>
Json compared(const DataStatistics& data, const std::vector<DataStatistics>& replicates, const Statistic& statistic) {
  std::vector<double> values;
  for (const DataStatistics& replicate : replicates) values.push_back(statistic(replicate));
  return compared(statistic(data), values);
}

// Several numbers, one after the other: a line with a band around it.
Json compared_line(const std::vector<std::uint64_t>& observed,
                   const std::vector<std::vector<std::uint64_t>>& replicates) {
  Json low = Json::array(), middle = Json::array(), high = Json::array();
  std::size_t inside = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    std::vector<double> values;
    for (const std::vector<std::uint64_t>& replicate : replicates) values.push_back(static_cast<double>(replicate[i]));
    const Range range = range_of(std::move(values));
    low.push_back(number(range.low, precise));
    middle.push_back(number(range.middle, precise));
    high.push_back(number(range.high, precise));
    const auto value = static_cast<double>(observed[i]);
    inside += value >= range.low && value <= range.high;
  }
  return {{"observed", observed},
          {"low", low},
          {"middle", middle},
          {"high", high},
          {"inside", number(static_cast<double>(inside) / static_cast<double>(observed.size()))}};
}

// From 1 to a little above the largest, evenly spread in logarithms, none twice.
std::vector<std::uint64_t> values_to_show(std::uint64_t largest) {
  const double top = std::max(2.0, std::ceil(1.1 * static_cast<double>(largest)));
  std::vector<std::uint64_t> grid;
  for (std::size_t i = 0; i < most_curve_points; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(most_curve_points - 1);
    const auto value = static_cast<std::uint64_t>(std::llround(std::exp(part * std::log(top))));
    if (grid.empty() || value > grid.back()) grid.push_back(value);
  }
  return grid;
}

// How many have at least such a value, for each value of a grid.
std::vector<std::uint64_t> at_least(const Histogram& histogram, const std::vector<std::uint64_t>& grid) {
  std::vector<std::uint64_t> result(grid.size(), 0);
  std::uint64_t many = 0;
  std::size_t i = histogram.size();
  for (std::size_t g = grid.size(); g-- > 0;) {
    while (i > 0 && histogram[i - 1].first >= grid[g]) many += histogram[--i].second;
    result[g] = many;
  }
  return result;
}

// How many have at least so much: the curves of one mode's histograms.
Json curve_shown(const std::vector<Histogram> DataStatistics::*member, std::size_t k, const DataStatistics& data,
                 const std::vector<DataStatistics>& replicates) {
  std::uint64_t largest = (data.*member)[k].back().first;
  for (const DataStatistics& replicate : replicates) largest = std::max(largest, (replicate.*member)[k].back().first);
  const std::vector<std::uint64_t> grid = values_to_show(largest);
  std::vector<std::vector<std::uint64_t>> of_replicates;
  for (const DataStatistics& replicate : replicates) of_replicates.push_back(at_least((replicate.*member)[k], grid));
  Json curve = compared_line(at_least((data.*member)[k], grid), of_replicates);
  curve["at_least"] = grid;
  return curve;
}

double total(const Histogram& histogram) {
  double sum = 0;
  for (const auto& [value, many] : histogram) sum += static_cast<double>(value) * static_cast<double>(many);
  return sum;
}

// The mean of the largest `count` values.
double mean_of_largest(const Histogram& histogram, std::uint64_t count) {
  double sum = 0;
  std::uint64_t left = count;
  for (std::size_t i = histogram.size(); left > 0 && i-- > 0;) {
    const std::uint64_t taken = std::min(left, histogram[i].second);
    sum += static_cast<double>(histogram[i].first) * static_cast<double>(taken);
    left -= taken;
  }
  return sum / static_cast<double>(count);
}

Json pairs_shown(std::size_t k, const StatisticsPlan& plan, const DataStatistics& data,
                 const std::vector<DataStatistics>& replicates) {
  const std::uint64_t entities = std::min<std::uint64_t>(plan.sizes[k], most_paired);
  const std::uint64_t pairs = entities * (entities - 1) / 2, closest = (pairs + 9) / 10;
  if (pairs == 0) return nullptr;
  return {{"entities", entities},
          {"pairs", pairs},
          {"share", number(plan.pair_share[k])},
          {"shared", compared(data, replicates, [&](const DataStatistics& of) { return total(of.pairs[k]); })},
          {"closest_pairs", closest},
          {"closest",
           compared(data, replicates, [&](const DataStatistics& of) { return mean_of_largest(of.pairs[k], closest); })},
          {"curve", curve_shown(&DataStatistics::pairs, k, data, replicates)}};
}

double sum(const std::vector<std::uint64_t>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), std::uint64_t{0}));
}

// Appearing and disappearing ones of each step.
std::vector<std::uint64_t> changes_by_step(const Changes& changes) {
  std::vector<std::uint64_t> result = changes.appear;
  for (std::size_t t = 0; t < result.size(); ++t) result[t] += changes.disappear[t];
  return result;
}

Json changes_shown(std::size_t i, const StatisticsPlan& plan, const DataStatistics& data,
                   const std::vector<DataStatistics>& replicates) {
  std::vector<std::vector<std::uint64_t>> of_replicates;
  for (const DataStatistics& replicate : replicates) of_replicates.push_back(changes_by_step(replicate.changes[i]));
  const auto of_sum = [&](const auto& values_of) {
    return compared(data, replicates, [&](const DataStatistics& of) { return sum(values_of(of.changes[i])); });
  };
  return {{"mode", plan.ordered[i].mode},
          {"share", number(plan.ordered[i].share)},
          {"stay", of_sum([](const Changes& changes) { return changes.stay; })},
          {"appear", of_sum([](const Changes& changes) { return changes.appear; })},
          {"disappear", of_sum([](const Changes& changes) { return changes.disappear; })},
          {"changes", of_sum(changes_by_step)},
          {"steps", compared_line(changes_by_step(data.changes[i]), of_replicates)}};
}

// The part of further replicates that are between the smallest and the largest of so many.
double covered(std::size_t replicates) {
  return (static_cast<double>(replicates) - 1) / (static_cast<double>(replicates) + 1);
}

// The statistics of a replicate of each of these draws. Holds one replicate at a time.
std::vector<DataStatistics> draw_replicates(ReportSource& source, const DrawsFile& draws,
                                            const std::vector<std::size_t>& chosen, const StatisticsPlan& plan) {
  const FitOptions& options = source.posterior.info().options;
  const Dataset& data = source.data();
  const ReplicatePlan replicate_plan{data.tensor, data.missing, has_counts(options), options.seed,
                                     options.self_cells == SelfCells::missing};
  HostArrays arrays;
  State state = draws.make_state(arrays);
  std::vector<DataStatistics> replicates;
  for (const std::size_t i : chosen) {
    draws.load(i, state);
    const Buffer<std::uint32_t> cells =
        replicated_cells(state, replicate_plan, static_cast<std::uint32_t>(replicates.size()), source.pool);
    const auto visit = [&](const UseOnes& use) { use(cells.data(), nullptr, cells.size() / plan.sizes.size()); };
    replicates.push_back(statistics_of(visit, plan, source.pool));
  }
  return replicates;
}

}  // namespace

Json checks_section(ReportSource& source) {
  if (!source.rates()) return nullptr;
  const RunInfo& info = source.posterior.info();
  const DrawsFile draws(source.run_dir, info);
  const FactorLayout layout = layout_of(source.posterior);
  const std::vector<std::size_t> chosen = choose_draws(draws, layout);
  if (cost_of(draws, chosen, layout) > cost_of_one) {
    source.notes.push_back(
        "The check whether the model produces data like these: to simulate data of this size again and again would "
        "take too long.");
    return nullptr;
  }
  const Dataset& data = source.data();
  const bool counts = has_counts(info.options);
  const StatisticsPlan plan = plan_statistics(data, source.shown);
  const auto visit_data = [&](const UseOnes& use) {
    for_ones(data, [&](const std::uint32_t* cells, const std::int64_t* of_cells, std::size_t ones) {
      use(cells, counts ? of_cells : nullptr, ones);  // a tensor file may have counts that the fit did not use
    });
  };
  const DataStatistics observed = statistics_of(visit_data, plan, source.pool);
  const std::vector<DataStatistics> replicates = draw_replicates(source, draws, chosen, plan);
  Json degrees = Json::array(), pairs = Json::array(), changes = Json::array();
  for (std::size_t k = 0; k < plan.sizes.size(); ++k) {
    degrees.push_back(curve_shown(&DataStatistics::degrees, k, observed, replicates));
    pairs.push_back(pairs_shown(k, plan, observed, replicates));
  }
  for (std::size_t i = 0; i < plan.ordered.size(); ++i) changes.push_back(changes_shown(i, plan, observed, replicates));
  return {{"replicates", replicates.size()},
          {"covers", number(covered(replicates.size()))},
          {"counts", counts},
          {"degrees", degrees},
          {"pairs", pairs},
          {"changes", changes}};
}

}  // namespace ztp
