#include "report/relevance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ztp {

double overall_part(const MeanFactor& u, std::uint32_t id, const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  return total > 0 ? u.weighted_sum(id, weights) / total : 0;
}

double relevance(const EntityPart& part, double weight) {
  return std::log(part.value) - (1 - weight) * std::log(part.overall);
}

std::vector<EntityPart> first_by_relevance(const std::vector<EntityPart>& parts, std::size_t count) {
  std::vector<std::size_t> order(parts.size());
  std::vector<bool> chosen(parts.size(), false);
  std::vector<double> score(parts.size());
  for (int tenth = 0; tenth <= 10; ++tenth) {
    for (std::size_t i = 0; i < parts.size(); ++i) score[i] = relevance(parts[i], tenth / 10.0);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t first = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return score[a] != score[b] ? score[a] > score[b] : parts[a].id < parts[b].id;
                      });
    for (std::size_t i = 0; i < first; ++i) chosen[order[i]] = true;
  }
  std::vector<EntityPart> result;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (chosen[i]) result.push_back(parts[i]);
  std::sort(result.begin(), result.end(), [](const EntityPart& a, const EntityPart& b) {
    return a.value != b.value ? a.value > b.value : a.id < b.id;
  });
  return result;
}

}  // namespace ztp
