// Models whose components share columns and whose modes share a matrix, and the rates of their cells by plain loops
// over components.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "host_copies.hpp"
#include "model/state.hpp"

namespace ztp::test {

// Three modes: the first two use one matrix of 7 x 3, the last one of 5 x 4. Of 6 components.
inline FactorLayout shared_layout() {
  return FactorLayout({0, 0, 1}, {{7, 3}, {5, 4}}, 6, {{0, 1, 2, 0, 1, 2}, {1, 1, 0, 2, 0, 2}, {3, 0, 0, 2, 1, 3}});
}

// Random factors and weights, with smaller and larger ones.
inline State random_state(const FactorLayout& layout, ArrayMaker& arrays, std::uint64_t seed) {
  State state = make_state(layout, {}, {}, arrays);
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    std::vector<float> values(layout.size(f).rows * layout.size(f).columns);
    for (float& value : values) value = static_cast<float>(std::exp(4 * stream.uniform() - 2));
    state.factors[f]->write({0, layout.size(f).rows}, values.data());
  }
  for (double& value : state.tensor.log_weight) value = 6 * stream.uniform() - 1;
  return state;
}

// The part of a cell's rate that component r has: lambda_r prod_k u.
inline double plain_part(const State& state, const std::uint32_t* cell, std::size_t r) {
  double part = std::exp(state.tensor.log_weight[r]);
  for (std::size_t k = 0; k < state.layout.modes(); ++k) {
    const double n = static_cast<double>(state.layout.size_of_mode(k).rows);
    part *= static_cast<double>(on_host(state.of_mode(k)).row(cell[k])[state.layout.column(k, r)]) / n;
  }
  return part;
}

inline double plain_rate(const State& state, const std::uint32_t* cell) {
  double rate = 0;
  for (std::size_t r = 0; r < state.layout.components(); ++r) rate += plain_part(state, cell, r);
  return rate;
}

// All cells of the tensor, x K, in order.
inline std::vector<std::uint32_t> all_cells(const FactorLayout& layout) {
  std::vector<std::uint32_t> cells, cell(layout.modes(), 0);
  for (std::size_t k = 0; k < layout.modes();) {
    cells.insert(cells.end(), cell.begin(), cell.end());
    for (k = 0; k < layout.modes() && ++cell[k] == layout.size_of_mode(k).rows; ++k) cell[k] = 0;
  }
  return cells;
}

}  // namespace ztp::test
