#include <algorithm>
#include <numeric>

#include "posterior/quantile.hpp"
#include "report/numbers.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_cold = 500, most_nodes = 200, most_edges = 1500;

void sort_by_neighbours(std::vector<std::uint32_t>& ids, const std::vector<std::uint32_t>& neighbours) {
  std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) { return neighbours[a] > neighbours[b]; });
}

// beta of the listed components or columns of its mode.
Json weights_shown(ReportSource& source, std::size_t network) {
  Json result = Json::array();
  const Groups& groups = source.groups();
  std::vector<std::vector<float>> beta = source.posterior.network_weights(network, groups.chain);
  for (const std::size_t q : groups.modes[source.posterior.info().networks[network].mode].columns) {
    std::vector<float>& draws = beta[q];
    std::sort(draws.begin(), draws.end());
    const double mean = std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    result.push_back({{"beta", number(mean, precise)},
                      {"q05", number(quantile(draws.data(), draws.size(), 0.05), precise)},
                      {"q95", number(quantile(draws.data(), draws.size(), 0.95), precise)}});
  }
  return result;
}

// Entities of which the tensor knows nothing: what is said of them comes from their neighbours.
Json cold_shown(const ShownEntities::ModeEntities& mode, const std::vector<std::uint32_t>& neighbours,
                const std::vector<std::uint32_t>& missing) {
  std::vector<std::uint32_t> cold = cold_starts(mode, mode.ones.size());
  const std::size_t count = cold.size();
  sort_by_neighbours(cold, neighbours);
  Json list = Json::array();
  for (const std::uint32_t id : cold) {
    const std::optional<std::uint32_t> place = mode.place_of(id);
    if (!place) continue;
    if (list.size() == most_cold) break;
    list.push_back({{"entity", *place},
                    {"neighbours", neighbours[id]},
                    {"missing", std::binary_search(missing.begin(), missing.end(), id)}});
  }
  return {{"count", count}, {"list", list}};
}

// The entities with most neighbours, as many as have no more edges among them than can be looked at.
Json graph_shown(const Network& network, const ShownEntities::ModeEntities& mode,
                 const std::vector<std::uint32_t>& neighbours) {
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t id : mode.ids)
    if (neighbours[id] > 0) nodes.push_back(id);
  const std::size_t connected = static_cast<std::size_t>(
      std::count_if(neighbours.begin(), neighbours.end(), [](std::uint32_t number) { return number > 0; }));
  sort_by_neighbours(nodes, neighbours);
  if (nodes.size() > most_nodes) nodes.resize(most_nodes);

  constexpr std::uint32_t none = ~0u;
  std::vector<std::uint32_t> at(neighbours.size(), none);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) at[nodes[i]] = i;
  std::vector<std::size_t> edges_up_to(nodes.size(), 0);  // with that node and those before it
  const auto for_edges = [&](const auto& use) {
    for (std::size_t e = 0; e < network.size(); ++e) {
      const std::uint32_t a = at[network.edges[2 * e]], b = at[network.edges[2 * e + 1]];
      if (a != none && b != none) use(a, b);
    }
  };
  for_edges([&](std::uint32_t a, std::uint32_t b) { ++edges_up_to[std::max(a, b)]; });
  std::partial_sum(edges_up_to.begin(), edges_up_to.end(), edges_up_to.begin());
  nodes.resize(static_cast<std::size_t>(std::upper_bound(edges_up_to.begin(), edges_up_to.end(), most_edges) -
                                        edges_up_to.begin()));

  Json places = Json::array(), edges = Json::array();
  for (const std::uint32_t id : nodes) places.push_back(*mode.place_of(id));
  for_edges([&](std::uint32_t a, std::uint32_t b) {
    if (std::max(a, b) < nodes.size()) edges.push_back({a, b});
  });
  return {{"nodes", places}, {"edges", edges}, {"of", connected}, {"all", nodes.size() == connected}};
}

}  // namespace

Json networks_section(ReportSource& source) {
  const RunInfo& info = source.posterior.info();
  Json result = Json::array();
  if (info.networks.empty()) return result;
  const Dataset& data = source.data();
  for (std::size_t m = 0; m < data.networks.size(); ++m) {
    const Network& network = data.networks[m];
    const ShownEntities::ModeEntities& mode = source.shown.modes[network.mode];
    std::vector<std::uint32_t> neighbours(mode.ones.size(), 0);  // in this network
    add_neighbours(network, neighbours);
    Json graph = graph_shown(network, mode, neighbours);
    result.push_back({{"mode", network.mode},
                      {"source", network.source},
                      {"edges", network.size()},
                      {"missing_pairs", network.missing.size() / 2},
                      {"connected", graph["of"]},
                      {"components", weights_shown(source, m)},
                      {"cold", cold_shown(mode, neighbours, data.missing.slices[network.mode])},
                      {"graph", std::move(graph)}});
  }
  return result;
}

}  // namespace ztp
