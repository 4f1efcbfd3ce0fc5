// Data for chains: a tensor, networks and what is missing, as functions of a seed, and the minibatches cut from them.
#pragma once
#include <algorithm>
#include <functional>
#include <list>
#include <set>
#include <vector>

#include "kernel/host_arrays.hpp"
#include "run/chain_factory.hpp"
#include "sampler/online_shared_chain.hpp"
#include "ztp/tensor.hpp"

namespace ztp::test {

using Cell = std::vector<std::uint32_t>;

struct OnlineData : Dataset {
  Problem problem;
  std::size_t parts = 1;  // minibatches, of ones and of edges

  // After the data are there.
  void make_problem(std::size_t R, std::size_t minibatches, std::uint64_t seed) {
    const double mean = std::min(0.5, 1.0 / static_cast<double>(R));
    problem.tensor = &tensor;
    problem.networks = networks;
    problem.hyper = {std::vector<double>(tensor.order(), 0.1), {0.1, 1, mean}, {0.1, 1, mean}};
    problem.layout = FactorLayout::cp(tensor.sizes(), R);
    problem.seed = seed;
    if (!missing.empty()) problem.missing = &missing;
    parts = minibatches;
  }
  OwnedMinibatches minibatches(Kernel& kernel) const {
    return make_minibatches(*this, problem.layout, parts, parts, !tensor.counts.empty(), kernel);
  }
  // With minibatches of its own, which live as long as the data.
  OnlineChain chain(const OnlineOptions& options, Kernel& kernel, std::uint32_t number = 0) {
    const OwnedMinibatches& cut = minibatches_.emplace_back(minibatches(kernel));
    return OnlineChain(problem, options, cut.data(), kernel, number);
  }
  std::unique_ptr<OnlineSharedChain> shared_chain(const OnlineOptions& options, Kernel& kernel,
                                                  std::uint32_t number = 0) {
    const OwnedMinibatches& cut = minibatches_.emplace_back(minibatches(kernel));
    return std::make_unique<OnlineSharedChain>(problem, options, cut.data(), kernel, number);
  }

 private:
  std::list<OwnedMinibatches> minibatches_;
};

inline void add_modes(const std::vector<std::uint32_t>& sizes, OnlineData& data) {
  for (const std::uint32_t n : sizes)
    data.tensor.modes.push_back({"mode" + std::to_string(data.tensor.order() + 1), LabelTable::numbered(1, n)});
}

using Allowed = std::function<bool(const Cell&)>;

// Different random cells that are allowed.
inline void add_ones(std::size_t ones, bool counted, std::uint64_t seed, OnlineData& data,
                     const Allowed& allowed = {}) {
  std::set<Cell> cells;
  for (std::uint64_t i = 0; cells.size() < ones; ++i) {
    Stream stream(stream_key(seed, 21, Purpose::simulate), 0, i);
    Cell cell;
    for (const Mode& mode : data.tensor.modes)
      cell.push_back(static_cast<std::uint32_t>(stream.below(mode.labels.size())));
    if (!allowed || allowed(cell)) cells.insert(cell);
  }
  for (const Cell& cell : cells) {
    for (const std::uint32_t j : cell) data.tensor.coords.push_back(j);
    if (counted) data.tensor.counts.push_back(1 + static_cast<std::int64_t>(cell[0] * 7 + cell[1]) % 5);
  }
}

// Different random pairs that are allowed.
inline void add_network(std::size_t mode, std::size_t edges, std::uint64_t seed, OnlineData& data,
                        const Allowed& allowed = {}) {
  Network network;
  network.mode = mode;
  const std::uint32_t n = data.tensor.modes[mode].labels.size();
  std::set<Cell> pairs;
  for (std::uint64_t e = 0; pairs.size() < edges; ++e) {
    Stream stream(stream_key(seed, 22, Purpose::simulate), static_cast<std::uint32_t>(mode), e);
    const auto i = static_cast<std::uint32_t>(stream.below(n)), j = static_cast<std::uint32_t>(stream.below(n));
    const Cell pair = {std::min(i, j), std::max(i, j)};
    if (i != j && (!allowed || allowed(pair))) pairs.insert(pair);
  }
  for (const Cell& pair : pairs) network.edges.append(pair.data(), 2);
  data.networks.push_back(std::move(network));
}

// The cells of minibatch b, sorted, with their counts behind them.
inline std::vector<Cell> ones_of(Minibatches& minibatches, std::size_t K, std::size_t b, std::size_t next) {
  std::vector<Cell> cells;
  minibatches.read(b, next, [&](const Minibatches::Chunk& chunk) {
    const std::int64_t* observed = on_this_host(chunk.ones).cells.observed;
    for (std::size_t e = 0; e < chunk.ones.count(); ++e) {
      cells.emplace_back(chunk.coords + e * K, chunk.coords + (e + 1) * K);
      if (observed != nullptr) cells.back().push_back(static_cast<std::uint32_t>(observed[e]));
    }
  });
  std::sort(cells.begin(), cells.end());
  return cells;
}

inline std::vector<double> run(Chain& chain, int steps) {
  std::vector<double> log_likelihood;
  for (int t = 0; t < steps; ++t) log_likelihood.push_back(chain.step(true));
  return log_likelihood;
}

}  // namespace ztp::test
