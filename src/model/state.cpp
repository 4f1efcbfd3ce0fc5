#include "model/state.hpp"

#include <algorithm>

#include "model/draws.hpp"

namespace ztp {

void Statistics::clear() {
  for (auto& matrix : rows) matrix.clear();
  std::fill(tensor.begin(), tensor.end(), 0);
  for (auto& totals : networks) std::fill(totals.begin(), totals.end(), 0);
}

void draw_weights(const WeightPrior& prior, const std::vector<std::int64_t>& totals, std::uint64_t seed,
                  std::uint32_t chain, std::uint32_t sweep, int network, Weights& weights) {
  const Purpose purpose = network < 0 ? Purpose::weights : Purpose::edge_weights;
  const StreamKey key = stream_key(seed, chain, purpose, network < 0 ? 0 : static_cast<std::uint32_t>(network));
  for (std::size_t r = 0; r < totals.size(); ++r) {
    Stream stream(key, sweep, r);
    const double count = static_cast<double>(totals[r]);
    const LogBeta p = draw_log_beta(stream, prior.concentration * prior.mean + count,
                                    prior.concentration * (1 - prior.mean) + prior.shape);
    weights.log_p[r] = p.log_p;
    weights.log_weight[r] = draw_log_gamma(stream, prior.shape + count) + p.log_p;
  }
}

std::size_t occupied(const Statistics& statistics) {
  return static_cast<std::size_t>(
      std::count_if(statistics.tensor.begin(), statistics.tensor.end(), [](std::int64_t s) { return s > 0; }));
}

}  // namespace ztp
