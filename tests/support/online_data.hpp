// Data for online chains: a tensor, networks and what is missing, as functions of a seed, with the minibatches cut from
// them.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "sampler/online_chain.hpp"
#include "tensor/records.hpp"
#include "worlds.hpp"
#include "ztp/tensor.hpp"

namespace ztp::test {

using Cell = std::vector<std::uint32_t>;

struct OnlineData {
  SparseTensor tensor;
  std::vector<Network> networks;
  Missing missing;
  Problem problem;
  std::unique_ptr<MemoryMinibatches> ones;
  std::vector<std::unique_ptr<MemoryMinibatches>> edges;

  // After the data are there.
  void make_problem(std::size_t R, std::size_t minibatches, std::uint64_t seed) {
    const double mean = std::min(0.5, 1.0 / static_cast<double>(R));
    problem = {&tensor, networks, {std::vector<double>(tensor.order(), 0.1), {0.1, 1, mean}, {0.1, 1, mean}}, R, seed};
    if (!missing.empty()) problem.missing = &missing;
    const std::vector<std::uint32_t> sizes = tensor.sizes();
    ones = std::make_unique<MemoryMinibatches>(tensor.coords, tensor.counts, sizes, minibatches);
    for (const Network& network : networks)
      edges.push_back(std::make_unique<MemoryMinibatches>(
          network.edges, std::span<const std::int64_t>(),
          std::vector<std::uint32_t>{sizes[network.mode], sizes[network.mode]}, minibatches, true));
  }
  std::vector<Minibatches*> edge_minibatches() const {
    std::vector<Minibatches*> result;
    for (const auto& of_network : edges) result.push_back(of_network.get());
    return result;
  }
  OnlineChain chain(const OnlineOptions& options, Kernel& kernel, std::uint32_t number = 0) const {
    return OnlineChain(problem, options, {*ones, edge_minibatches()}, kernel, number);
  }
};

inline void add_modes(const std::vector<std::uint32_t>& sizes, OnlineData& data) {
  for (const std::uint32_t n : sizes)
    data.tensor.modes.push_back({"mode" + std::to_string(data.tensor.order() + 1), LabelTable::numbered(1, n)});
}

// Different random cells; those for which `free` is false stay away.
inline void add_ones(std::size_t ones, bool counted, std::uint64_t seed, OnlineData& data,
                     const std::function<bool(const Cell&)>& free = {}) {
  std::set<Cell> cells;
  for (std::uint64_t i = 0; cells.size() < ones; ++i) {
    Stream stream(world_key(seed, 21), 0, i);
    Cell cell;
    for (const Mode& mode : data.tensor.modes)
      cell.push_back(static_cast<std::uint32_t>(stream.below(mode.labels.size())));
    if (!free || free(cell)) cells.insert(cell);
  }
  for (const Cell& cell : cells) {
    for (const std::uint32_t j : cell) data.tensor.coords.push_back(j);
    if (counted) data.tensor.counts.push_back(1 + static_cast<std::int64_t>(cell[0] * 7 + cell[1]) % 5);
  }
}

inline void add_network(std::size_t mode, std::size_t edges, std::uint64_t seed, OnlineData& data) {
  Network network;
  network.mode = mode;
  const std::uint32_t n = data.tensor.modes[mode].labels.size();
  std::set<Cell> pairs;
  for (std::uint64_t e = 0; pairs.size() < edges; ++e) {
    Stream stream(world_key(seed, 22), static_cast<std::uint32_t>(mode), e);
    const auto i = static_cast<std::uint32_t>(stream.below(n)), j = static_cast<std::uint32_t>(stream.below(n));
    if (i != j) pairs.insert({std::min(i, j), std::max(i, j)});
  }
  for (const Cell& pair : pairs) {
    network.edges.push_back(pair[0]);
    network.edges.push_back(pair[1]);
  }
  data.networks.push_back(std::move(network));
}

// The cells of minibatch b, sorted, with their counts behind them.
inline std::vector<Cell> ones_of(Minibatches& minibatches, std::size_t K, std::size_t b, std::size_t next) {
  std::vector<Cell> cells;
  minibatches.read(b, next, [&](const Entries& entries) {
    for (std::size_t e = 0; e < entries.count; ++e) {
      cells.emplace_back(entries.coords + e * K, entries.coords + (e + 1) * K);
      if (entries.observed) cells.back().push_back(static_cast<std::uint32_t>(entries.observed[e]));
    }
  });
  std::sort(cells.begin(), cells.end());
  return cells;
}

// Every bit of what a chain carries from step to step.
inline bool same_statistics(const Statistics& a, const Statistics& b) {
  bool same = same_bits(a.scale, b.scale) && a.tensor == b.tensor && a.networks == b.networks &&
              a.from_ones == b.from_ones && a.from_edges == b.from_edges;
  for (std::size_t k = 0; k < a.rows.size(); ++k) same = same && same_bits(a.rows[k], b.rows[k]);
  return same;
}

inline std::vector<double> run(AnyChain& chain, int steps) {
  std::vector<double> log_likelihood;
  for (int t = 0; t < steps; ++t) log_likelihood.push_back(chain.step(true));
  return log_likelihood;
}

}  // namespace ztp::test
