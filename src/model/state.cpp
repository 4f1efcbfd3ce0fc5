#include "model/state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ztp {

void Statistics::clear() {
  for (auto& matrix : rows) matrix.clear();
  clear_totals();
}

void Statistics::clear_totals() {
  for (const Totals& list : totals()) std::fill(list.counts->begin(), list.counts->end(), 0);
}

std::vector<Statistics::Totals> Statistics::totals() {
  std::vector<Totals> all = {{"tensor", &tensor}, {"from_ones", &from_ones}, {"from_edges", &from_edges}};
  for (std::size_t m = 0; m < networks.size(); ++m) all.push_back({fmt::format("network{}", m), &networks[m]});
  return all;
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
  statistics.networks.resize(networks);
  for (const Statistics::Totals& list : statistics.totals()) list.counts->assign(R, 0);
  return statistics;
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
