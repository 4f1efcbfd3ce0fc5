#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/dataset_ones.hpp"
#include "kernel/host_arrays.hpp"
#include "posterior/quantile.hpp"
#include "report/mean_factor.hpp"
#include "report/numbers.hpp"
#include "report/replicate.hpp"
#include "report/sections.hpp"
#include "store/draws_file.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_replicates = 20, fewest_replicates = 4;
// The cost of replicates in points, each about 60 ns on one thread. Reading a draw and making its tables costs a third
// of that per number.
constexpr double cost_of_all = 16e6;  // unless that makes too few of them
constexpr double cost_of_one = 40e6;  // beyond, few of them might take more than half a minute, and a GB of memory
constexpr double numbers_of_a_point = 3;
constexpr std::size_t most_degrees = 40;

using Degrees = std::vector<std::vector<std::uint64_t>>;  // by mode and entity

// How many entities of a mode have each degree, ascending: much shorter than the list of all degrees.
using Histogram = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::vector<Histogram> histograms(Degrees degrees) {
  std::vector<Histogram> result(degrees.size());
  for (std::size_t k = 0; k < degrees.size(); ++k) {
    std::sort(degrees[k].begin(), degrees[k].end());
    for (const std::uint64_t degree : degrees[k]) {
      if (result[k].empty() || result[k].back().first != degree) result[k].emplace_back(degree, 0);
      ++result[k].back().second;
    }
  }
  return result;
}

// What ShownEntities has counted, unless ones have counts.
Degrees observed_degrees(const Dataset& data, const ShownEntities& shown, bool counts) {
  Degrees degrees;
  for (const ShownEntities::ModeEntities& mode : shown.modes) degrees.push_back(mode.ones);
  if (!counts) return degrees;
  const std::size_t K = degrees.size();
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t* count, std::size_t ones) {
    if (count == nullptr) return;
    for (std::size_t e = 0; e < ones; ++e)
      for (std::size_t k = 0; k < K; ++k) degrees[k][cells[e * K + k]] += static_cast<std::uint64_t>(count[e]) - 1;
  });
  return degrees;
}

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

// From 1 to a little above the largest, evenly spread in logarithms, none twice.
std::vector<std::uint64_t> degrees_to_show(std::uint64_t largest) {
  const double top = std::max(2.0, std::ceil(1.1 * static_cast<double>(largest)));
  std::vector<std::uint64_t> grid;
  for (std::size_t i = 0; i < most_degrees; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(most_degrees - 1);
    const auto degree = static_cast<std::uint64_t>(std::llround(std::exp(part * std::log(top))));
    if (grid.empty() || degree > grid.back()) grid.push_back(degree);
  }
  return grid;
}

// How many entities have at least so many ones, for each degree of a grid.
std::vector<std::uint64_t> at_least(const Histogram& histogram, const std::vector<std::uint64_t>& grid) {
  std::vector<std::uint64_t> result(grid.size(), 0);
  std::uint64_t entities = 0;
  std::size_t i = histogram.size();
  for (std::size_t g = grid.size(); g-- > 0;) {
    while (i > 0 && histogram[i - 1].first >= grid[g]) entities += histogram[--i].second;
    result[g] = entities;
  }
  return result;
}

// The part of further replicates that are between the smallest and the largest of so many.
double covered(std::size_t replicates) {
  return (static_cast<double>(replicates) - 1) / (static_cast<double>(replicates) + 1);
}

Json mode_shown(const Histogram& observed, const std::vector<const Histogram*>& replicates) {
  std::uint64_t largest = observed.back().first;
  for (const Histogram* histogram : replicates) largest = std::max(largest, histogram->back().first);
  const std::vector<std::uint64_t> grid = degrees_to_show(largest), of_data = at_least(observed, grid);
  std::vector<std::vector<std::uint64_t>> of_replicates;
  for (const Histogram* histogram : replicates) of_replicates.push_back(at_least(*histogram, grid));
  Json low = Json::array(), middle = Json::array(), high = Json::array();
  std::size_t inside = 0;
  for (std::size_t g = 0; g < grid.size(); ++g) {
    std::vector<std::uint64_t> entities;
    for (const auto& of_replicate : of_replicates) entities.push_back(of_replicate[g]);
    std::sort(entities.begin(), entities.end());
    const std::size_t count = entities.size();
    low.push_back(entities.front());
    middle.push_back(static_cast<double>(entities[(count - 1) / 2] + entities[count / 2]) / 2);
    high.push_back(entities.back());
    inside += of_data[g] >= entities.front() && of_data[g] <= entities.back();
  }
  return {{"degree", grid}, {"observed", of_data},
          {"low", low},     {"middle", middle},
          {"high", high},   {"inside", number(static_cast<double>(inside) / static_cast<double>(grid.size()))}};
}

}  // namespace

Json degrees_section(ReportSource& source) {
  if (!source.rates()) return nullptr;
  const RunInfo& info = source.posterior.info();
  const DrawsFile draws(source.run_dir, info);
  const FactorLayout layout = layout_of(source.posterior);
  const std::vector<std::size_t> chosen = choose_draws(draws, layout);
  if (const double cost = cost_of(draws, chosen, layout); cost > cost_of_one) {
    source.notes.push_back(
        fmt::format("Degrees of replicated data are left out: each replicate would take as long as {:.0f} million "
                    "points, and {:.0f} million is the most.",
                    cost / 1e6, cost_of_one / 1e6));
    return nullptr;
  }
  const Dataset& data = source.data();
  const bool counts = has_counts(info.options);
  const bool self_missing = info.options.self == SelfCells::missing;
  const ReplicatePlan plan{data.tensor, data.missing, counts, info.options.seed, self_missing};
  HostArrays arrays;
  State state = draws.make_state(arrays);
  std::vector<std::vector<Histogram>> replicates;
  for (const std::size_t i : chosen) {
    draws.load(i, state);
    const auto number = static_cast<std::uint32_t>(replicates.size());
    replicates.push_back(histograms(replicated_degrees(state, plan, number, source.pool)));
  }
  const std::vector<Histogram> observed = histograms(observed_degrees(data, source.shown, counts));
  Json modes = Json::array();
  for (std::size_t k = 0; k < observed.size(); ++k) {
    std::vector<const Histogram*> of_mode;
    for (const std::vector<Histogram>& replicate : replicates) of_mode.push_back(&replicate[k]);
    modes.push_back(mode_shown(observed[k], of_mode));
  }
  return {{"replicates", replicates.size()},
          {"covers", number(covered(replicates.size()))},
          {"counts", counts},
          {"modes", modes}};
}

}  // namespace ztp
