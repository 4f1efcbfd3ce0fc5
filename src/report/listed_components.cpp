#include "report/listed_components.hpp"

#include <algorithm>
#include <numeric>

#include "report/mean_factor.hpp"

namespace ztp {

std::size_t chain_shown(const Posterior& posterior) {
  return posterior.chains().front();
}

std::vector<double> largest_beta(Posterior& posterior, std::size_t matrix) {
  const FactorLayout layout = layout_of(posterior);
  std::vector<double> largest(layout.size(matrix).columns, 0.0);
  for (std::size_t m = 0; m < posterior.info().networks.size(); ++m) {
    if (layout.matrix(posterior.info().networks[m].mode) != matrix) continue;
    const std::vector<std::vector<float>> beta = posterior.network_weights(m, chain_shown(posterior));
    for (std::size_t q = 0; q < largest.size(); ++q)
      largest[q] = std::max(largest[q],
                            std::accumulate(beta[q].begin(), beta[q].end(), 0.0) / static_cast<double>(beta[q].size()));
  }
  return largest;
}

std::vector<bool> network_only_components(Posterior& posterior) {
  const std::vector<double> weights = posterior.mean_weights(chain_shown(posterior));
  std::vector<bool> result(weights.size(), false);
  for (std::size_t f = 0; f < posterior.modes().size(); ++f) {
    const std::vector<double> beta = largest_beta(posterior, f);
    for (std::size_t r = 0; r < result.size(); ++r)
      if (weights[r] < weight_of_empty && beta[r] >= weight_of_empty) result[r] = true;
  }
  return result;
}

std::vector<std::size_t> listed_components(Posterior& posterior) {
  if (is_rival(posterior.info().options)) return {};
  const std::vector<double> weights = posterior.mean_weights(chain_shown(posterior));
  const std::vector<bool> network_only = network_only_components(posterior);
  std::vector<std::size_t> listed(weights.size());
  std::iota(listed.begin(), listed.end(), std::size_t{0});
  std::erase_if(listed, [&](std::size_t r) { return weights[r] < weight_of_empty && !network_only[r]; });
  std::stable_sort(listed.begin(), listed.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  return listed;
}

}  // namespace ztp
