#include "report/listed_components.hpp"

#include <algorithm>
#include <numeric>

#include "report/mean_factor.hpp"

namespace ztp {

std::size_t chain_shown(const Posterior& posterior) {
  return posterior.chains().front();
}

std::vector<bool> network_only_components(Posterior& posterior) {
  const std::size_t chain = chain_shown(posterior);
  const std::vector<double> weights = posterior.mean_weights(chain);
  const FactorLayout layout = layout_of(posterior);
  std::vector<bool> result(weights.size(), false);
  for (std::size_t m = 0; m < posterior.info().networks.size(); ++m) {
    const std::vector<std::vector<float>> beta = posterior.network_weights(m, chain);
    const std::size_t k = posterior.info().networks[m].mode;
    const std::vector<double> in_tensor = layout.column_sums(k, weights);
    for (std::size_t r = 0; r < result.size(); ++r) {
      const std::size_t q = layout.column(k, r);
      const double mean = std::accumulate(beta[q].begin(), beta[q].end(), 0.0) / static_cast<double>(beta[q].size());
      if (in_tensor[q] < weight_of_empty && mean >= weight_of_empty) result[r] = true;
    }
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
