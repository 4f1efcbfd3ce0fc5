#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/file_cells.hpp"
#include "posterior/impl.hpp"
#include "report/numbers.hpp"
#include "report/replicate.hpp"
#include "report/sections.hpp"
#include "store/data.hpp"
#include "store/draws_file.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_replicates = 20, fewest_replicates = 4;
constexpr double points_of_all = 6e6;   // of all replicates, unless that makes too few of them
constexpr double points_of_one = 40e6;  // of one: beyond, it would take too long
constexpr std::size_t most_degrees = 40;

using Degrees = std::vector<std::vector<std::uint64_t>>;  // by mode and entity

Degrees observed_degrees(const Dataset& data, bool counts) {
  Degrees degrees;
  for (const Mode& mode : data.tensor.modes) degrees.emplace_back(mode.labels.size(), 0);
  const std::size_t K = degrees.size();
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t* count, std::size_t ones) {
    for (std::size_t e = 0; e < ones; ++e)
      for (std::size_t k = 0; k < K; ++k)
        degrees[k][cells[e * K + k]] += counts && count != nullptr ? static_cast<std::uint64_t>(count[e]) : 1;
  });
  return degrees;
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
std::vector<float> at_least(std::vector<std::uint64_t> degrees, const std::vector<std::uint64_t>& grid) {
  std::sort(degrees.begin(), degrees.end());
  std::vector<float> result;
  for (const std::uint64_t degree : grid)
    result.push_back(static_cast<float>(degrees.end() - std::lower_bound(degrees.begin(), degrees.end(), degree)));
  return result;
}

Json mode_shown(const std::vector<std::uint64_t>& observed,
                const std::vector<const std::vector<std::uint64_t>*>& replicates) {
  std::uint64_t largest = *std::max_element(observed.begin(), observed.end());
  for (const auto* degrees : replicates)
    largest = std::max(largest, *std::max_element(degrees->begin(), degrees->end()));
  const std::vector<std::uint64_t> grid = degrees_to_show(largest);
  const std::vector<float> of_data = at_least(observed, grid);
  std::vector<std::vector<float>> of_replicates;
  for (const auto* degrees : replicates) of_replicates.push_back(at_least(*degrees, grid));
  Json low = Json::array(), middle = Json::array(), high = Json::array();
  std::size_t inside = 0;
  for (std::size_t g = 0; g < grid.size(); ++g) {
    std::vector<float> numbers;
    for (const auto& of_replicate : of_replicates) numbers.push_back(of_replicate[g]);
    std::sort(numbers.begin(), numbers.end());
    // Of few replicates the extremes are nearer to these quantiles than anything between them.
    const bool few = numbers.size() < most_replicates;
    const double from = quantile(numbers.data(), numbers.size(), few ? 0 : 0.05);
    const double to = quantile(numbers.data(), numbers.size(), few ? 1 : 0.95);
    low.push_back(number(from));
    middle.push_back(number(quantile(numbers.data(), numbers.size(), 0.5)));
    high.push_back(number(to));
    inside += static_cast<double>(of_data[g]) >= from && static_cast<double>(of_data[g]) <= to;
  }
  return {{"degree", grid}, {"observed", numbers(of_data, 9)},
          {"low", low},     {"middle", middle},
          {"high", high},   {"inside", number(static_cast<double>(inside) / static_cast<double>(grid.size()))}};
}

}  // namespace

Json degrees_section(Source& source) {
  if (!source.rates()) return nullptr;
  const RunInfo& info = source.posterior.info();
  const DrawsFile draws(source.run_dir, info);
  double points = 0;
  for (const std::size_t i : spread(draws.draws().size(), most_replicates))
    points = std::max(points, points_expected(draws.log_weights(i)));
  if (points > points_of_one) {
    source.notes.push_back(
        fmt::format("Degrees of replicated data are left out: {:.0f} million points would have to be drawn for each.",
                    points / 1e6));
    return nullptr;
  }
  const std::size_t affordable = static_cast<std::size_t>(
      std::clamp(points_of_all / points, static_cast<double>(fewest_replicates), static_cast<double>(most_replicates)));
  const Dataset data = load_data(source.run_dir, info);
  const bool counts = has_counts(info.options);
  const ReplicatePlan plan{data.tensor, data.missing, counts, info.options.seed};
  State state;
  std::vector<Degrees> replicates;
  for (const std::size_t i : spread(draws.draws().size(), affordable)) {
    draws.load(i, state);
    replicates.push_back(replicated_degrees(state, plan, static_cast<std::uint32_t>(replicates.size()), source.pool));
  }
  const Degrees observed = observed_degrees(data, counts);
  Json modes = Json::array();
  for (std::size_t k = 0; k < observed.size(); ++k) {
    std::vector<const std::vector<std::uint64_t>*> of_mode;
    for (const Degrees& replicate : replicates) of_mode.push_back(&replicate[k]);
    modes.push_back(mode_shown(observed[k], of_mode));
  }
  return {{"replicates", replicates.size()}, {"counts", counts}, {"modes", modes}};
}

}  // namespace ztp
