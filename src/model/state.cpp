#include "model/state.hpp"

#include <algorithm>
#include <cmath>

#include "model/draws.hpp"

namespace ztp {

void Statistics::clear() {
  for (auto& matrix : rows) matrix.clear();
  clear_totals();
}

void Statistics::clear_totals() {
  std::fill(tensor.begin(), tensor.end(), 0);
  for (auto& totals : networks) std::fill(totals.begin(), totals.end(), 0);
  std::fill(from_ones.begin(), from_ones.end(), 0);
  std::fill(from_edges.begin(), from_edges.end(), 0);
}

State make_state(const std::vector<std::uint32_t>& sizes, std::size_t networks, std::size_t R,
                 const Hyperparameters& hyper) {
  State state;
  state.R = R;
  state.shapes = {hyper.dirichlet, hyper.tensor.shape, std::vector<double>(networks, hyper.network.shape)};
  for (const std::uint32_t n : sizes) state.u.emplace_back(n, R);
  state.tensor = Weights(R);
  state.networks.assign(networks, Weights(R));
  return state;
}

Statistics make_statistics(const std::vector<std::uint32_t>& sizes, std::size_t networks, std::size_t R) {
  Statistics statistics;
  for (const std::uint32_t n : sizes) statistics.rows.emplace_back(n, R);
  statistics.tensor.assign(R, 0);
  statistics.networks.assign(networks, std::vector<std::int64_t>(R, 0));
  statistics.from_ones.assign(R, 0);
  statistics.from_edges.assign(R, 0);
  return statistics;
}

void draw_weights(const WeightPrior& prior, const std::vector<std::int64_t>& totals, std::uint64_t seed,
                  std::uint32_t chain, std::uint32_t sweep, int network, Weights& weights, double scale) {
  const Purpose purpose = network < 0 ? Purpose::weights : Purpose::edge_weights;
  const StreamKey key = stream_key(seed, chain, purpose, network < 0 ? 0 : static_cast<std::uint32_t>(network));
  for (std::size_t r = 0; r < totals.size(); ++r) {
    Stream stream(key, sweep, r);
    const double count = scale * static_cast<double>(totals[r]);
    const LogBeta p = draw_log_beta(stream, prior.concentration * prior.mean + count,
                                    prior.concentration * (1 - prior.mean) + prior.shape);
    weights.log_p[r] = p.log_p;
    weights.log_weight[r] = draw_log_gamma(stream, prior.shape + count) + p.log_p;
  }
}

void mean_weights(const WeightPrior& prior, const std::vector<std::int64_t>& totals, double scale, Weights& weights) {
  for (std::size_t r = 0; r < totals.size(); ++r) {
    const double s = scale * static_cast<double>(totals[r]);
    const double p = (prior.concentration * prior.mean + s) / (prior.concentration + prior.shape + s);
    weights.log_p[r] = std::log(p);
    weights.log_weight[r] = std::log((prior.shape + s) * p);
  }
}

std::vector<double> learned_values(const Shapes& shapes, const Hyperparameters& hyper) {
  std::vector<double> values;
  if (hyper.learn_dirichlet) values = shapes.dirichlet;
  if (!hyper.learn_shapes) return values;
  values.push_back(shapes.tensor);
  values.insert(values.end(), shapes.networks.begin(), shapes.networks.end());
  return values;
}

namespace {

bool has_counts(const Statistics& statistics, std::int64_t stored) {
  return statistics.scale * static_cast<double>(stored) >= 0.5;
}

}  // namespace

std::size_t occupied(const Statistics& statistics) {
  return static_cast<std::size_t>(std::count_if(statistics.from_ones.begin(), statistics.from_ones.end(),
                                                [&](std::int64_t stored) { return has_counts(statistics, stored); }));
}

std::size_t network_only(const Statistics& statistics) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < statistics.from_ones.size(); ++r)
    count += !has_counts(statistics, statistics.from_ones[r]) && has_counts(statistics, statistics.from_edges[r]);
  return count;
}

}  // namespace ztp
