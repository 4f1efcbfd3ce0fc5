#include "kernel/cuda/listed_components.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ztp::cuda {

ListedComponents::ListedComponents(const FactorLayout& layout, std::size_t open, const std::vector<double>& log_weight,
                                   double scale_of_rates)
    : scale(scale_of_rates) {
  const std::size_t R = layout.components(), one_hot = layout.one_hot_mode();
  for (std::size_t k = 0; k < layout.modes(); ++k)
    if (k != open) given.push_back(k);
  group_mode = static_cast<std::size_t>(std::find(given.begin(), given.end(), one_hot) - given.begin());
  const bool grouped = group_mode < given.size(), opened = open < layout.modes();
  const std::size_t groups = grouped ? layout.size_of_mode(one_hot).rows : 1;
  if (grouped) scale *= static_cast<double>(groups);  // the identity is stored times its size
  const auto place_of = [&](std::uint32_t r) {
    return std::pair(grouped ? layout.column(one_hot, r) : 0, opened ? layout.column(open, r) : 0);
  };
  std::vector<std::uint32_t> order(R);
  std::iota(order.begin(), order.end(), 0u);
  if (!layout.columns_are_components())
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return place_of(a) < place_of(b); });
  const RelativeWeights relative(log_weight);
  std::pair<std::size_t, std::size_t> last;
  group.push_back(0);
  for (std::uint32_t x = 0; x < R; ++x) {
    const auto place = place_of(order[x]);
    if (x == 0 || place != last) {
      while (group.size() <= place.first) group.push_back(static_cast<std::uint32_t>(segment.size()));
      segment.push_back(x);
      open_column.push_back(static_cast<std::uint32_t>(place.second));
    }
    last = place;
    weight.push_back(relative.weight[order[x]]);
  }
  while (group.size() <= groups) group.push_back(static_cast<std::uint32_t>(segment.size()));
  segment.push_back(static_cast<std::uint32_t>(R));
  column.resize(given.size());
  for (std::size_t i = 0; i < given.size() && !layout.columns_are_components(); ++i)
    for (const std::uint32_t r : order) column[i].push_back(static_cast<std::uint32_t>(layout.column(given[i], r)));
}

ListedComponents listed_components(const State& draw, std::size_t open) {
  const RelativeWeights relative(draw.tensor.log_weight);
  return {draw.layout, open, draw.tensor.log_weight, std::exp(relative.log_largest - log_volume(draw.layout))};
}

}  // namespace ztp::cuda
