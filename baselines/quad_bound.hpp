// The quadratic bound of the logistic loss (Jaakkola and Jordan 2000), and where to divide cells that share one:
//   log(1 + exp(t)) = t/2 + h(t^2) <= t/2 + h(m) + curvature(m)/2 (t^2 - m),  h(m) = log(2 cosh(sqrt(m)/2)),
// with equality at t^2 = m (M41). h is concave: of all m for many cells together the mean of their t^2 is the best, and
// it makes the bound the number of cells times h(m), and t/2 for each.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace ztp {

// h(m) of (M41).
inline double bound_height(double m) {
  const double xi = std::sqrt(m);
  return xi / 2 + std::log1p(std::exp(-xi));
}

// c(m) of (M41), 2 h'(m): the second derivative of the bound in t. Between 0 and 1/4.
inline double bound_curvature(double m) {
  const double xi = std::sqrt(m);
  return xi < 1e-4 ? 0.25 * (1 - m / 12) : std::tanh(xi / 2) / (2 * xi);
}

// The cells of a block that an entity has: how many, and the sum of their theta^2.
struct Slice {
  std::uint32_t entity;
  double cells;
  double energy;
};

struct Cut {
  double gain = 0;                   // by how much the bound goes down; zero: there is nothing to divide
  std::size_t mode = 0;              // of the entities
  std::vector<std::uint32_t> moved;  // those that get a bound of their own
};

// The best division of entities into two sets that each have a bound, by its gain (M45). Since h is concave, the best
// is among those that leave the entities in the order of their mean theta^2. O(n log n).
inline Cut best_cut(std::vector<Slice> slices) {
  const auto mean = [](double cells, double energy) { return cells > 0.5 ? std::max(energy, 0.0) / cells : 0.0; };
  const auto bound = [&](double cells, double energy) { return cells * bound_height(mean(cells, energy)); };
  std::sort(slices.begin(), slices.end(), [&](const Slice& a, const Slice& b) {
    const double first = mean(a.cells, a.energy), second = mean(b.cells, b.energy);
    return first != second ? first < second : a.entity < b.entity;
  });
  double cells = 0, energy = 0;
  for (const Slice& slice : slices) cells += slice.cells, energy += slice.energy;
  const double whole = bound(cells, energy);
  Cut best;
  double low_cells = 0, low_energy = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < slices.size(); ++i) {
    low_cells += slices[i].cells;
    low_energy += slices[i].energy;
    const double gain = whole - bound(low_cells, low_energy) - bound(cells - low_cells, energy - low_energy);
    if (gain > best.gain) best.gain = gain, at = i + 1;
  }
  // Only roundings: each sum has one error per slice. If ones are rare, gains are tiny parts of the whole, but real.
  if (best.gain <= 4 * static_cast<double>(slices.size()) * std::numeric_limits<double>::epsilon() * whole) return {};
  for (std::size_t i = at; i < slices.size(); ++i) best.moved.push_back(slices[i].entity);
  return best;
}

}  // namespace ztp
