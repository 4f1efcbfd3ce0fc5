// Models that the joint tests and simulation-based calibration are made of: a base, and what changes it.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/prepare.hpp"
#include "tiny_model.hpp"

namespace ztp::test {

// c = d = 8: lambda and beta have moments, and prior tensors are never enormous.
inline Model base(std::string name, std::vector<std::uint32_t> sizes, std::vector<std::size_t> network_modes = {}) {
  Model model;
  model.name = std::move(name);
  model.hyper = {std::vector<double>(sizes.size(), 0.7), {1.2, 8, 0.5}, {0.9, 8, 0.6}};
  model.sizes = std::move(sizes);
  model.network_modes = std::move(network_modes);
  return model;
}
// The prior that `ztp fit` has when it is not told another: a = g = 0.1, c = 1, eps = 1/R. Weights have no mean then.
inline Model at_defaults(Model model, std::size_t R, std::size_t fewest_ones = 0) {
  Dataset data;
  for (const std::uint32_t n : model.sizes) data.tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  FitOptions options;
  options.rank = static_cast<decltype(options.rank)>(R);
  model.R = R;
  model.hyper = hyperparameters(complete_options(options, data), FactorLayout::cp(model.sizes, R), data.tensor.modes);
  model.most_counts = 32;
  model.fewest_ones = fewest_ones;
  return model;
}
inline Model counts(Model model) {
  model.counts = true;
  return model;
}
inline Model learned(Model model) {
  model.hyper.learn_dirichlet = model.hyper.learn_shapes = true;
  return model;
}
inline Model without(Model model, std::vector<std::vector<std::uint32_t>> slices, std::vector<std::size_t> cells,
                     std::vector<std::vector<std::size_t>> pairs = {}) {
  model.missing_slices = std::move(slices);
  model.missing_cells = std::move(cells);
  model.missing_pairs = std::move(pairs);
  return model;
}

// With the collapsed moves, and components to spare, so that there is something to split into.
inline Model collapsed(Model model, std::size_t R) {
  model.R = R;
  model.configure = [](Problem& problem) { problem.collapsed = true; };
  return model;
}
// Components found by way of bounds, as with hundreds of them. Where R is not more than 16 they are one block.
inline Model bounded(Model model) {
  model.configure = [](Problem& problem) { problem.bounded = true; };
  return model;
}
// Four blocks of components, of which the bound of one is not replaced by the truth; few components have counts.
inline Model many_components(Model model) {
  model.R = 52;
  model.hyper.tensor.shape = 0.05;
  return model;
}
// Components that share columns: so many of each matrix.
inline Model shared(Model model, std::size_t R, std::vector<std::size_t> columns) {
  model.R = R;
  model.columns = std::move(columns);
  model.hyper.tensor.shared = true;
  model.hyper.tensor.shape = 0.5;
  return model;
}
// Data that say much of the p that all weights have in common.
inline Model many_weights(Model model) {
  model.hyper.tensor = {1, 5, 0.5, true};
  return model;
}
inline Model tied(Model model, bool self_missing) {
  model.tied = true;
  model.self_missing = self_missing;
  model.hyper.dirichlet.pop_back();
  return model;
}
// Columns with few entities each: a second count in a row says much.
inline Model few_entities(Model model) {
  std::fill(model.hyper.dirichlet.begin(), model.hyper.dirichlet.end(), 0.2);
  return model;
}
inline Model one_hot(Model model, std::size_t mode) {
  model.one_hot = mode;
  return model;
}
// Which of the moves there are: steps hide each other's bugs.
inline Model moves(Model model, bool scan, bool columns) {
  model.configure = [scan, columns](Problem& problem) {
    problem.collapsed = scan;
    problem.move_columns = columns;
  };
  return model;
}
// A network with many more counts than the tensor.
inline Model heavy_network(Model model) {
  model.hyper.dirichlet[model.network_modes[0]] = 0.3;
  model.hyper.tensor.shape = 2.5;
  model.hyper.network.shape = 6;
  return model;
}

}  // namespace ztp::test
