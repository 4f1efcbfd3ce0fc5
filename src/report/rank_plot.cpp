#include "report/rank_plot.hpp"

#include <algorithm>

namespace ztp {

std::vector<std::vector<std::uint64_t>> rank_plot(const DrawsOfChains& draws) {
  struct Draw {
    double value;
    std::size_t chain;
  };
  std::vector<Draw> all;
  for (std::size_t c = 0; c < draws.size(); ++c)
    for (const double value : draws[c]) all.push_back({value, c});
  std::sort(all.begin(), all.end(), [](const Draw& a, const Draw& b) { return a.value < b.value; });
  std::vector<std::vector<std::uint64_t>> bins(draws.size(), std::vector<std::uint64_t>(rank_bins, 0));
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].value == all[begin].value) ++end;
    // The mean of the ranks begin + 1 to end, less a half, as a part of all.
    const std::size_t bin = (begin + end) * rank_bins / (2 * all.size());
    for (std::size_t i = begin; i < end; ++i) ++bins[all[i].chain][std::min(bin, rank_bins - 1)];
    begin = end;
  }
  return bins;
}

}  // namespace ztp
