#include "model/state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ztp {

void Statistics::clear() {
  for (const auto& of_matrix : rows) of_matrix->clear();
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

void set_identity(Factors& u) {
  const std::size_t n = u.rows();
  write_rows(u, [n](std::size_t j, float* row) {
    std::fill(row, row + n, 0.0f);
    row[j] = static_cast<float>(n);
  });
}

State make_state(const FactorLayout& layout, const std::vector<std::size_t>& networks, const Hyperparameters& hyper,
                 ArrayMaker& arrays) {
  State state;
  state.layout = layout;
  state.shapes = {hyper.dirichlet, hyper.tensor.shape, std::vector<double>(networks.size(), hyper.network.shape)};
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    state.factors.push_back(arrays.factors(layout.size(f).rows, layout.size(f).columns, {.matrix = f}));
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    if (layout.is_one_hot(f)) set_identity(*state.factors[f]);
  state.tensor = Weights(layout.components());
  for (const std::size_t f : networks) state.networks.emplace_back(layout.size(f).columns);
  return state;
}

Statistics make_statistics(const FactorLayout& layout, const std::vector<std::size_t>& networks, bool wide,
                           ArrayMaker& arrays) {
  Statistics statistics;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {  // of a one-hot matrix nothing is drawn, so nothing is counted
    const bool one_hot = layout.is_one_hot(f);
    statistics.rows.push_back(
        arrays.counts(one_hot ? 1 : layout.size(f).rows, one_hot ? 1 : layout.size(f).columns, wide, {.matrix = f}));
  }
  for (auto* of_tensor : {&statistics.tensor, &statistics.from_ones, &statistics.from_edges})
    of_tensor->assign(layout.components(), 0);
  for (const std::size_t f : networks)
    statistics.from_edges.resize(std::max(statistics.from_edges.size(), layout.size(f).columns), 0);
  for (const std::size_t f : networks) statistics.networks.emplace_back(layout.size(f).columns, 0);
  return statistics;
}

std::vector<double> learned_values(const State& state, const Hyperparameters& hyper) {
  const PriorShapes& shapes = state.shapes;
  std::vector<double> values;
  for (std::size_t f = 0; hyper.learn_dirichlet && f < shapes.dirichlet.size(); ++f)
    if (!state.layout.is_one_hot(f)) values.push_back(shapes.dirichlet[f]);
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
