#include "report/groups.hpp"

#include <algorithm>

#include "report/listed_components.hpp"
#include "report/mean_factor.hpp"

namespace ztp {
namespace {

// The columns of a matrix that are listed, largest weight first, and what all its columns weigh.
void list_columns(Posterior& posterior, std::size_t f, Groups& groups) {
  const std::size_t k = groups.layout.first_mode(f), P = groups.layout.size(f).columns;
  ModeGroups found{std::vector<double>(P, 0.0), {}, groups.columns.size()};
  const std::vector<double> beta = largest_beta(posterior, f);
  for (Column& column : posterior.columns(k, 0, groups.chain)) {
    const std::size_t q = column.number - 1;
    found.weights[q] = column.weight;
    const bool empty = column.weight < weight_of_empty;
    if (groups.layout.is_one_hot(f) || (empty && beta[q] < weight_of_empty)) continue;
    found.columns.push_back(q);
    groups.columns.push_back(std::move(column));
    groups.network_only.push_back(empty);
  }
  for (std::size_t mode = 0; mode < groups.layout.modes(); ++mode)
    if (groups.layout.matrix(mode) == f) groups.modes[mode] = found;
}

}  // namespace

std::optional<std::size_t> Groups::index_of(std::size_t mode, std::size_t q) const {
  const std::vector<std::size_t>& listed = modes[mode].columns;
  const auto found = std::find(listed.begin(), listed.end(), q);
  if (found == listed.end()) return std::nullopt;
  return modes[mode].first + static_cast<std::size_t>(found - listed.begin());
}

Groups find_groups(Posterior& posterior) {
  Groups groups;
  groups.chain = chain_shown(posterior);
  groups.shared = shares_columns(posterior.info().options);
  groups.layout = layout_of(posterior);
  groups.modes.resize(groups.layout.modes());
  if (groups.shared) {
    for (std::size_t f = 0; f < groups.layout.matrices(); ++f) list_columns(posterior, f, groups);
    return groups;
  }
  const std::vector<bool> network_only = network_only_components(posterior);
  const std::vector<std::size_t> listed = listed_components(posterior);
  for (const std::size_t r : listed) groups.network_only.push_back(network_only[r]);
  groups.modes.assign(groups.layout.modes(), {posterior.mean_weights(groups.chain), listed, 0});
  return groups;
}

}  // namespace ztp
