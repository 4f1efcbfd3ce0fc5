#include "report/characteristic_entities.hpp"

#include <algorithm>
#include <numeric>

#include "report/entity_order.hpp"

namespace ztp {
namespace {

// Latent counts that each column of a mode has, from the ones and from the networks of its matrix: an edge has two
// ends.
std::vector<double> counts_in_mode(Posterior& posterior, const Groups& groups, std::size_t k) {
  std::vector<double> counts = groups.modes[k].weights;
  const auto& networks = posterior.info().networks;
  for (std::size_t m = 0; m < networks.size(); ++m) {
    if (groups.layout.matrix(networks[m].mode) != groups.layout.matrix(k)) continue;
    const auto beta = posterior.network_weights(m, groups.chain);
    for (std::size_t q = 0; q < counts.size(); ++q)
      counts[q] += 2 * std::accumulate(beta[q].begin(), beta[q].end(), 0.0) / static_cast<double>(beta[q].size());
  }
  return counts;
}

// a of a mode: as it was given, or the mean of what was learned of its matrix.
double dirichlet_of(const RunInfo& info, const FactorLayout& layout, std::size_t k) {
  for (const auto& [name, value] : info.learned)
    if (name == "dirichlet_" + info.modes[layout.first_mode(layout.matrix(k))].name) return value;
  return info.modes[k].dirichlet;
}

// Adds the labels of the most relevant entities of each of these columns.
void add_names(Posterior& posterior, const Groups& groups, std::size_t k, const std::vector<std::size_t>& columns,
               std::size_t count, std::vector<std::vector<std::string>>& names) {
  const Mode& mode = posterior.modes()[k];
  std::vector<std::uint32_t> ids(mode.labels.size());
  std::iota(ids.begin(), ids.end(), 0u);
  std::vector<std::vector<EntityPart>> parts =
      characteristic_entities(posterior, groups, k, MeanFactor(posterior, k, groups.chain), columns, ids);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto end = parts[i].begin() + static_cast<std::ptrdiff_t>(std::min(count, parts[i].size()));
    std::partial_sort(parts[i].begin(), end, parts[i].end(), [](const EntityPart& a, const EntityPart& b) {
      const double of_a = relevance(a, telling_relevance), of_b = relevance(b, telling_relevance);
      return of_a != of_b ? of_a > of_b : a.id < b.id;
    });
    for (auto part = parts[i].begin(); part != end; ++part) names[i].push_back(mode.labels[part->id]);
  }
}

}  // namespace

std::vector<std::vector<EntityPart>> characteristic_entities(Posterior& posterior, const Groups& groups,
                                                             std::size_t mode, const MeanFactor& u,
                                                             const std::vector<std::size_t>& columns,
                                                             const std::vector<std::uint32_t>& ids) {
  const std::vector<double> counts = counts_in_mode(posterior, groups, mode);
  const double prior = dirichlet_of(posterior.info(), groups.layout, mode);
  const std::size_t L = columns.size();
  std::vector<double> largest(L, 0.0), overall;
  for (const std::uint32_t id : ids) {
    overall.push_back(overall_part(u, id, groups.modes[mode].weights));
    for (std::size_t i = 0; i < L; ++i) largest[i] = std::max(largest[i], static_cast<double>(u(id, columns[i])));
  }
  std::vector<std::vector<EntityPart>> parts(L);
  for (std::size_t i = 0; i < L; ++i) {
    const CountsBeyondPrior own(prior, u.entities(), counts[columns[i]]);
    const double least = CountsBeyondPrior::least(own(largest[i]));
    for (std::size_t place = 0; place < ids.size(); ++place) {
      const double value = static_cast<double>(u(ids[place], columns[i]));
      if (value > 0 && overall[place] > 0 && own(value) >= least)
        parts[i].push_back({ids[place], value, overall[place]});
    }
  }
  return parts;
}

std::vector<std::vector<std::string>> component_names(Posterior& posterior, const Groups& groups,
                                                      const std::vector<std::size_t>& components) {
  const std::vector<Mode>& modes = posterior.modes();
  std::vector<std::size_t> telling;
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (modes[k].labels.size() > 1 && !looks_ordered(modes[k])) telling.push_back(k);
  if (telling.empty()) telling.push_back(0);
  std::vector<std::vector<std::string>> names(components.size());
  for (const std::size_t k : telling) add_names(posterior, groups, k, components, 1, names);
  return names;
}

std::vector<std::vector<std::string>> column_names(Posterior& posterior, const Groups& groups, std::size_t mode,
                                                   const std::vector<std::size_t>& columns) {
  std::vector<std::vector<std::string>> names(columns.size());
  add_names(posterior, groups, mode, columns, 2, names);
  return names;
}

}  // namespace ztp
